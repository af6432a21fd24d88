/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// snapshotOfFiles leaves out folders: those that were created for files stay.
func snapshotOfFiles(t *testing.T) map[string]string {
	t.Helper()
	all := snapshot(t, ".")
	maps.DeleteFunc(all, func(_, content string) bool { return content == aFolder })
	return all
}

// A folder that cannot be written to is found before the others have got anything, and the error names it. Here a file is in
// its place, which stops every user, including root.
func TestGenerate_FolderThatCannotBeWritten_WritesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, filepath.Join("v1", "storage"), "a file")
	before := snapshotOfFiles(t)
	for _, files := range [][]string{
		{"v1/file", "new/file", "v1/storage/file"},
		{"v1/storage/file", "v1/file", "new/file"},
		{"v1/file", "new/inner/file", "v1/storage/inner/file"},
	} {
		m := &move{kept: make(map[string]bool)}
		for _, file := range files {
			m.add(file, []byte("text"))
		}
		err := m.do(nil)
		if cleaned := m.clean(); cleaned != nil {
			t.Errorf("%v: %v", files, cleaned)
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Join("v1", "storage")) {
			t.Errorf("%v: %v, want an error that names v1/storage", files, err)
		}
		if diff := cmp.Diff(before, snapshotOfFiles(t)); diff != "" {
			t.Errorf("%v (-before +after): %s", files, diff)
		}
	}
}

// A file that was not moved is removed, and those that were moved stay.
func TestGenerate_FilesThatWereNotMoved_AreRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	m := &move{kept: make(map[string]bool)}
	m.add("full/file", []byte("text"))
	if err := m.do([]string{"full", "none"}); err != nil {
		t.Fatal(err)
	}
	m.add("new/inner/file", []byte("text"))
	if err := m.clean(); err != nil {
		t.Fatal(err)
	}
	left := slices.Sorted(maps.Keys(snapshotOfFiles(t)))
	if diff := cmp.Diff([]string{filepath.Join("full", "file")}, left); diff != "" {
		t.Error("left (-want +got):", diff)
	}
}
