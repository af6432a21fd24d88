/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// searchedLines is the number of last lines of a log that are searched for errors.
	searchedLines = 2000
	// errorLines is the number of errors that are quoted of a process that is not ready.
	errorLines = 5
)

// errorsFirst returns the last errors among lines of a log, and then the last lines of all that are not among them.
func errorsFirst(lines []string) []string {
	failed := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !IsError(line) })
	others := slices.DeleteFunc(slices.Clone(lines), IsError)
	return slices.Concat(failed[max(len(failed)-errorLines, 0):], others[max(len(others)-noticeLines, 0):])
}

// IsError reports whether a line of a log has the level of an error.
func IsError(line string) bool {
	return strings.Contains(line, `"severity":"ERROR"`) || strings.Contains(line, `"severity":"FATAL"`)
}

// LogFile is the path of the log of a process, in the folder of the runner that runs it.
func LogFile(dir, process string) string { return filepath.Join(dir, process+".log") }

// LastLines reads the last lines of a log, at most the given number. A file that does not exist has none.
func LastLines(path string, maximum int) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the last lines of a log: %w", err)
	}
	lines := strings.FieldsFunc(string(content), func(r rune) bool { return r == '\n' })
	return lines[max(len(lines)-maximum, 0):], nil
}
