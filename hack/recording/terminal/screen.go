/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package terminal keeps the text on the screen of a terminal.
package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Screen is the text on a terminal that is as tall as needed. It knows the control sequences that `make run` writes: those that move the
// cursor up, and those that erase a line or everything below the cursor.
type Screen struct {
	lines   [][]rune
	row     int
	column  int
	pending []byte
}

// sequence matches a control sequence at the beginning of the output.
var sequence = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

// Write writes output of a program to the screen. A character or a sequence may be divided between two writes.
func (s *Screen) Write(output []byte) (int, error) {
	s.pending = append(s.pending, output...)
	for len(s.pending) > 0 {
		if s.pending[0] == '\x1b' {
			match := sequence.FindSubmatch(s.pending)
			if match == nil {
				return len(output), nil // the rest follows
			}
			if err := s.control(string(match[2]), string(match[1])); err != nil {
				return 0, err
			}
			s.pending = s.pending[len(match[0]):]
			continue
		}
		if !utf8.FullRune(s.pending) {
			return len(output), nil
		}
		character, size := utf8.DecodeRune(s.pending)
		s.pending = s.pending[size:]
		s.put(character)
	}
	return len(output), nil
}

func (s *Screen) put(character rune) {
	switch character {
	case '\n':
		s.row, s.column = s.row+1, 0
	case '\r':
		s.column = 0
	default:
		line := s.line()
		for len(*line) <= s.column {
			*line = append(*line, ' ')
		}
		(*line)[s.column] = character
		s.column++
	}
}

func (s *Screen) line() *[]rune {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
	return &s.lines[s.row]
}

func (s *Screen) control(command, argument string) error {
	line := s.line()
	switch command + argument {
	case "K":
		*line = (*line)[:min(s.column, len(*line))]
	case "K2":
		*line = nil
	case "J":
		*line = (*line)[:min(s.column, len(*line))]
		s.lines = s.lines[:s.row+1]
	default:
		up := 0
		if _, err := fmt.Sscan(argument, &up); command != "A" || err != nil {
			return fmt.Errorf("the screen does not know the control sequence ESC[%s%s", argument, command)
		}
		s.row = max(0, s.row-up)
	}
	return nil
}

// Lines returns the lines of the screen up to the last one with text.
func (s *Screen) Lines() []string {
	var lines []string
	for _, line := range s.lines {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
