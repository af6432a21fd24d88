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
