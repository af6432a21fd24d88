/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// screen is the standard output: lines for the steps of the start, then a table. On a terminal the line of a step is
// replaced when the step ends, and the table is redrawn in place; elsewhere each is a new line.
type screen struct {
	out      io.Writer
	terminal bool
	// size returns the width and height of the terminal in characters, 0 if it is unknown.
	size func() (width, height int)

	mu sync.Mutex
	// last is the step whose line is the last one on the screen.
	last *step
	// drawn is the number of lines of the table on the screen.
	drawn int
}

// step is something that takes a while.
type step struct {
	screen *screen
	began  time.Time
}

// begin announces a step.
func (s *screen) begin(what string) *step {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &step{screen: s, began: time.Now()}
	fmt.Fprintf(s.out, "  %s …\n", what)
	s.last = st
	return st
}

// end prints the result and the duration of the step.
func (st *step) end(what string) {
	s := st.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal && s.last == st {
		fmt.Fprint(s.out, "\x1b[1A\x1b[2K")
	}
	s.last = nil
	fmt.Fprintf(s.out, "✓ %-52s %6.1f s\n", what, time.Since(st.began).Seconds())
}

// print writes lines below everything else.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.drawn = nil, 0
	fmt.Fprint(s.out, text)
}

// Write takes the progress of a build, which goes between the lines of the steps.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
	n, err := s.out.Write(p)
	if err != nil {
		return n, fmt.Errorf("writing to the screen: %w", err)
	}
	return n, nil
}

// draw puts the table on the screen, over its predecessor if that is still the last thing there. A line that is wider than
// the terminal breaks, so that an address can always be read and copied.
func (s *screen) draw(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	width, height := s.size()
	lines = fit(lines, width, height-1)
	var frame strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&frame, "\x1b[%dA\x1b[J", s.drawn)
	}
	s.drawn = 0
	for _, line := range lines {
		frame.WriteString(line + "\n")
		s.drawn += tall(line, width)
	}
	fmt.Fprint(s.out, frame.String())
}

// fit leaves out the last lines of a table that is longer than the terminal, since what has scrolled away cannot be drawn
// over. A height that is not known has room for all.
func fit(lines []string, width, height int) []string {
	total := 0
	for i, line := range lines {
		total += tall(line, width)
		last := i == len(lines)-1
		if height > 1 && (total > height || total == height && !last) {
			return append(lines[:i:i], fmt.Sprintf("… and %d more", len(lines)-i))
		}
	}
	return lines
}

// tall returns the number of lines of the terminal that a line takes.
func tall(line string, width int) int {
	length := len([]rune(line))
	if width < 1 || length == 0 {
		return 1
	}
	return (length + width - 1) / width
}

// newScreen writes to a file, which may be a terminal.
func newScreen(file *os.File) *screen {
	descriptor := int(file.Fd())
	return &screen{out: file, terminal: term.IsTerminal(descriptor), size: func() (int, int) {
		width, height, err := term.GetSize(descriptor)
		if err != nil {
			return 0, 0
		}
		return width, height
	}}
}
