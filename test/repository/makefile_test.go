/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var targetLine = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)

// targets returns the public targets of the Makefile.
func targets(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, match := range targetLine.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestMakefile_Help_ListsEveryTarget(t *testing.T) {
	var listed []string
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z-]+) +\S`).FindAllStringSubmatch(output(t, "make", "help"), -1) {
		listed = append(listed, match[1])
	}
	slices.Sort(listed)
	if diff := cmp.Diff(targets(t), listed); diff != "" {
		t.Error("make help differs from the Makefile (-Makefile +help):", diff)
	}
}

// No target makes a file of its name.
func TestMakefile_Targets_ArePhony(t *testing.T) {
	var phony []string
	for _, match := range regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		phony = append(phony, strings.Fields(match[1])...)
	}
	slices.Sort(phony)
	if diff := cmp.Diff(targets(t), phony); diff != "" {
		t.Error(".PHONY differs from the targets (-targets +phony):", diff)
	}
}

// A test that runs make would pass the arguments of make test to another target.
func TestMakefile_VariablesOfMakeTest_AreHiddenFromTests(t *testing.T) {
	bin := t.TempDir()
	for name, script := range map[string]string{
		"go":        `if [ "$3" = tool ]; then echo "${0%/*}/gotestsum"; else echo package; fi`,
		"gotestsum": `echo "with ${MAKEFLAGS-no flags} ${ARGS-no arguments} ${PARTS-no parts}"`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "make", "test", "PARTS=units", "ARGS=-v")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if want := "\nwith no flags no arguments no parts\n"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("make test ended with %v, want %q in:\n%s", err, want, out)
	}
}

func TestReport_OneControlPlaneMoreThanTheBudget_Fails(t *testing.T) {
	for started, failing := range map[int]bool{6: false, 7: true} {
		work := t.TempDir()
		if err := os.WriteFile(filepath.Join(work, "programs"), []byte(strings.Repeat("1.5\tlocalcluster\tup\n", started)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "report.sh"), "test", work)
		out, err := cmd.CombinedOutput()
		if counted := fmt.Sprintf("%8.1f %6d  control planes\n", 1.5*float64(started), started); (err != nil) != failing || !strings.Contains(string(out), counted) {
			t.Errorf("with %d control planes the report ends with %v, want an error: %v, and %q in:\n%s", started, err, failing, counted, out)
		}
	}
}
