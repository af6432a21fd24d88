/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"bytes"
	"fmt"
	"strings"
)

// lines calls a function for each line that is written to it.
type lines struct {
	handle func(string)
	// begun is the line whose end has not been written yet.
	begun []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.begun = append(l.begun, p...)
	for {
		line, rest, complete := bytes.Cut(l.begun, []byte("\n"))
		if !complete {
			return len(p), nil
		}
		l.begun = rest
		if text := strings.TrimRight(string(line), "\r"); text != "" {
			l.handle(text)
		}
	}
}

// tailLines is the number of a program's last lines that are kept for its error.
const tailLines = 20

// tail keeps the last lines of a program's error output.
type tail []string

func (t *tail) add(line string) {
	*t = append(*t, line)
	*t = (*t)[max(len(*t)-tailLines, 0):]
}

// explain adds the lines to the error that the program ended with.
func (t *tail) explain(err error) error {
	if len(*t) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(*t, "\n"))
}
