//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"path/filepath"
	"regexp"
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

// TestHowTo_OwnASecondChild_BothChildrenAreRestored follows the page with the kind that it begins with. make kind generates no code here, since
// make generate of the page generates it.
func TestHowTo_OwnASecondChild_BothChildrenAreRestored(t *testing.T) {
	const page, generator = "docs/how-to/own-a-second-child.md", "hack/update-codegen.sh"
	command := regexp.MustCompile("`(make kind [^`]+)`").FindStringSubmatch(read(t, page))
	if command == nil {
		t.Fatalf("%s names no command that makes the kind", page)
	}
	r := newReader(t)
	r.write(t, generator, "#!/bin/sh\n")
	r.run(t, block{}, command[1], false)
	r.run(t, block{}, "git checkout --quiet "+generator, false)
	r.follow(t, page, "test/docs:TestHowTo_OwnASecondChild_BothChildrenAreRestored")
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
