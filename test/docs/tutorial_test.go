/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"path/filepath"
	"testing"
)

// TestTutorial_FirstHook_ReactsAsThePageShows follows the page in a clone of what is committed.
func TestTutorial_FirstHook_ReactsAsThePageShows(t *testing.T) {
	r := newReader(t)
	r.follow(t, "docs/tutorial/first-hook.md", "test/docs:TestTutorial_FirstHook_ReactsAsThePageShows")
}

// TestTutorial_FirstOperator_EndsWithTheReadersOwnTest follows the page, from a fork to a test of the reader's own code.
func TestTutorial_FirstOperator_EndsWithTheReadersOwnTest(t *testing.T) {
	const mostCommands, mostLines = 30, 120
	r := newReader(t)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		r.environment = append(r.environment, "GIT_"+who+"_NAME=reader", "GIT_"+who+"_EMAIL=reader@example.com")
	}
	r.follow(t, "docs/tutorial/first-operator.md", "test/docs:TestTutorial_FirstOperator_EndsWithTheReadersOwnTest")
	t.Logf("the reader typed %d commands and %d lines of code", r.commands, r.lines)
	if r.commands == 0 || r.commands > mostCommands || r.lines == 0 || r.lines > mostLines {
		t.Errorf("the reader typed %d commands and %d lines of code, want 1 to %d and 1 to %d", r.commands, r.lines, mostCommands, mostLines)
	}
}

// newReader returns a reader who has cloned the repository.
func newReader(t *testing.T) *reader {
	t.Helper()
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{dir: t.TempDir()}
	r.run(t, block{}, "git clone --quiet --config safe.directory='*' "+repository+" mallard && cd mallard", false)
	return r
}
