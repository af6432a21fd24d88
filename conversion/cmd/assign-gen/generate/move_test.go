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

// A folder that cannot be written to is found before the others have got anything, and the error names it. Here a file is in
// its place, which stops every user, including root.
func TestGenerate_FolderThatCannotBeWritten_WritesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, filepath.Join("v1", "storage"), "a file")
	before := snapshot(t, ".")
	for _, folders := range [][]string{
		{"v1", "new", filepath.Join("v1", "storage")},
		{filepath.Join("v1", "storage"), "v1", "new"},
		{"v1", filepath.Join("new", "inner"), filepath.Join("v1", "storage", "inner")},
	} {
		m, err := newMove(folders)
		if cleaned := m.clean(); cleaned != nil {
			t.Errorf("%v: %v", folders, cleaned)
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Join("v1", "storage")) {
			t.Errorf("%v: %v, want an error that names v1/storage", folders, err)
		}
		if diff := cmp.Diff(before, snapshot(t, ".")); diff != "" {
			t.Errorf("%v (-before +after): %s", folders, diff)
		}
	}
}

// Folders that were created for files that were not written are removed, and their parents stay.
func TestGenerate_NewFoldersWithoutFiles_AreRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	m, err := newMove([]string{"full", "empty", "full"})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.add(filepath.Join("full", "file"), []byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := m.do(nil); err != nil {
		t.Fatal(err)
	}
	if err := m.clean(); err != nil {
		t.Fatal(err)
	}
	left := slices.Sorted(maps.Keys(snapshot(t, ".")))
	if diff := cmp.Diff([]string{".", "full", filepath.Join("full", "file")}, left); diff != "" {
		t.Error("left (-want +got):", diff)
	}
}
