/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mistakes are those that conversions of other projects were found to have, and then those by which a binding would harm objects
// that are not its own, or a rollout Pods that are needed. Tests of ours have to find each of them.
var mistakes = []string{
	"01-drop-hook-call",
	"02-assert-on-src",
	"03-share-bag-map",
	"04-drop-unknown-entries",
	"05-shallow-objectmeta",
	"06-use-duckv1-convertto",
	"07-restore-lists-by-index",
	"08-error-on-bad-bag",
	"09-call-setdefaults",
	"10-ignore-rename-marker",
	"11-enum-fallback-without-stash",
	"12-do-not-remove-consumed-entry",
	"13-emit-empty-struct",
	"14-lose-explicit-zero",
	"15-skip-basis-check",
	"16-omit-a-zygote",
	"17-prefer-first-name",
	"18-take-unmarked-variable",
	"19-change-controlled-object",
	"20-lose-added-with-emptied-list",
	"21-leave-generation-untested",
	"22-skip-init-containers",
	"23-ignore-exclude-label",
	"24-surge-beside-old-pods",
	"25-delete-ready-without-spare",
	"26-count-finished-as-active",
	"27-finish-before-terminating",
	"28-trust-label-of-pods",
	"29-forget-kind-that-cannot-be-read",
	"30-patch-before-recording", "31-drop-unknown-address",
}

// Whether tests find them takes minutes, and is what make mutants says. That they are all there and can still be made does not.
func TestMutantsStillApply(t *testing.T) {
	mutants, err := readMutants("patches")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range mutants {
		names = append(names, strings.TrimSuffix(filepath.Base(m.path), ".patch"))
		command := exec.CommandContext(t.Context(), "git", "apply", "--check", filepath.Join("hack", "mutants", m.path))
		command.Dir = filepath.Join("..", "..")
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s no longer applies: make the same mistake in the code as it is now\n%s", m.name, output)
		}
	}
	if diff := cmp.Diff(mistakes, names); diff != "" {
		t.Error("the mutants are others (-want +got):", diff)
	}
}
