//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxFilesOfOneObject bounds how many files one has to read to follow an object from its event to the status update.
const maxFilesOfOneObject = 10

const (
	livesIn    = "./pkg/reconciler/addressableservice"
	runsOfLife = 3
)

func TestReconcilersPage_FilesOfOneObject_AreThoseExecuted(t *testing.T) {
	binary := coveredBinary(t)
	without, with := map[string]int{}, map[string]int{}
	// The start polls, so that its counts differ from run to run.
	for run := range runsOfLife {
		for block, count := range executed(t, binary, "TestLife_NoObject_NothingHappens") {
			without[block] = max(without[block], count)
		}
		for block, count := range executed(t, binary, "TestLife_OneObject_BecomesReady") {
			if known, ok := with[block]; !ok || run == 0 || count < known {
				with[block] = count
			}
		}
	}
	files := map[string]bool{}
	for block, count := range with {
		if file, _, _ := strings.Cut(block, ":"); count > without[block] && !strings.HasPrefix(filepath.Base(file), "zz_generated") {
			files[strings.TrimPrefix(file, module+"/")] = true
		}
	}
	page, err := os.ReadFile("../../docs/explanation/reconciliation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "### Its files\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, link := range regexp.MustCompile(`\((?:\.\./)+([^)]+\.go)\)`).FindAllStringSubmatch(section, -1) {
		listed[link[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("docs/explanation/reconciliation.md lists\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(files) > maxFilesOfOneObject {
		t.Errorf("one object passes through %d files, want at most %d", len(files), maxFilesOfOneObject)
	}
}

// coveredBinary builds the tests of AddressableServices, with the coverage of our code.
func coveredBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "tests")
	packages := strings.Join(strings.Fields(output(t, "go", "list", livesIn, "./pkg/apis/...", "./pkg/failures")), ",")
	output(t, "go", "test", "-c", "-o", binary, "-covermode", "atomic", "-coverpkg", packages, livesIn)
	return binary
}

// executed returns the number of times that a test of AddressableServices executes each block of our code.
func executed(t *testing.T, binary, test string) map[string]int {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	run := exec.CommandContext(t.Context(), binary, "-test.run", "^"+test+"$", "-test.coverprofile", profile)
	run.Dir = filepath.Join("../..", livesIn)
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", test, err, said)
	}
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
