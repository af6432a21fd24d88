/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devcluster

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
)

// tailLines is how many of a program's last lines are kept for the error that it ends with.
const tailLines = 20

// tail keeps the last lines of a program's error output.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// explain adds the lines to the error that the program ended with.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(t.lines, "\n"))
}

// scanLines calls handle for each line until the input ends. A line of any length is one line.
func scanLines(input io.Reader, handle func(string)) {
	reader := bufio.NewReader(input)
	for {
		line, err := reader.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			handle(line)
		}
		if err != nil {
			return
		}
	}
}
