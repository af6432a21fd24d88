/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxFilesOfOneObject bounds how many files one has to read to follow an object from its event to the status update.
const maxFilesOfOneObject = 15

func TestReconcilersPage_FilesOfOneObject_AreThoseExecuted(t *testing.T) {
	without, with := executed(t, "TestLife_NoObject_NothingHappens"), executed(t, "TestLife_OneObject_BecomesReady")
	files := map[string]bool{}
	for block, count := range with {
		if file, _, _ := strings.Cut(block, ":"); count > without[block] && !strings.HasPrefix(filepath.Base(file), "zz_generated") {
			files[strings.TrimPrefix(file, module+"/")] = true
		}
	}
	page, err := os.ReadFile("../../docs/reconcilers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "### Its files\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, link := range regexp.MustCompile(`\(\.\./([^)]+\.go)\)`).FindAllStringSubmatch(section, -1) {
		listed[link[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("docs/reconcilers.md lists\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(files) > maxFilesOfOneObject {
		t.Errorf("one object passes through %d files, want at most %d", len(files), maxFilesOfOneObject)
	}
}

// executed returns how often a test of AddressableServices executes each block of our code.
func executed(t *testing.T, test string) map[string]int {
	t.Helper()
	const tested = "./pkg/reconciler/addressableservice"
	profile := filepath.Join(t.TempDir(), "profile")
	packages := strings.Join(strings.Fields(output(t, "go", "list", tested, "./pkg/apis/...", "./runtime/...")), ",")
	output(t, "go", "test", "-count", "1", "-run", "^"+test+"$", "-covermode", "atomic", "-coverpkg", packages, "-coverprofile", profile, tested)
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		count, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		counts[fields[0]] = count
	}
	return counts
}
