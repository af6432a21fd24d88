/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// tailBytes bounds how much of a log is read for its last lines.
const tailBytes = 256 << 10

const (
	// searchedLines is how far back a log is searched for errors.
	searchedLines = 2000
	// errorLines is how many errors are quoted of a process that is not ready.
	errorLines = 5
)

// errorsFirst returns the last errors among lines of a log, and then the last lines of all that are not among them.
func errorsFirst(lines []string) []string {
	isError := func(line string) bool {
		return strings.Contains(line, `"severity":"ERROR"`) || strings.Contains(line, `"severity":"FATAL"`)
	}
	failed := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !isError(line) })
	others := slices.DeleteFunc(slices.Clone(lines), isError)
	return slices.Concat(failed[max(len(failed)-errorLines, 0):], others[max(len(others)-noticeLines, 0):])
}

// lastLines reads the last lines of a log, at most max of them. A file that does not exist has none.
func lastLines(path string, maximum int) ([]string, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the last lines of a log: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the last lines of a log: %w", err)
	}
	start := max(info.Size()-tailBytes, 0)
	content, err := io.ReadAll(io.NewSectionReader(file, start, tailBytes))
	if err != nil {
		return nil, fmt.Errorf("reading the last lines of a log: %w", err)
	}
	if start > 0 {
		// The first line is most likely only the end of one.
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	text := strings.TrimRight(string(content), "\n")
	if text == "" {
		return nil, nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(len(lines)-maximum, 0):], nil
}
