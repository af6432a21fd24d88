/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mutants are mistakes that conversions of other projects were found to have. Tests of ours have to find each of them.
var mutants = []string{
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
}

var mutantHead = regexp.MustCompile(`^breaks: .+\ntests: \./.+\n(generate: .+\n)?\ndiff --git `)

// Whether tests find them takes minutes, and is what go run ./hack/mutants says. That they are all there and can still be made does not.
func TestMutantsStillApply(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "hack/mutants/patches/*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		name := filepath.Base(path)
		names = append(names, name[:len(name)-len(filepath.Ext(name))])
		if !mutantHead.MatchString(read(t, "hack/mutants/patches/"+name)) {
			t.Errorf("%s has to begin with a line breaks:, a line tests:, perhaps a line generate:, and an empty one", name)
		}
		command := exec.CommandContext(t.Context(), "git", "apply", "--check", filepath.Join("hack/mutants/patches", name))
		command.Dir = root
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s no longer applies: make the same mistake in the code as it is now\n%s", name, output)
		}
	}
	if diff := cmp.Diff(mutants, names); diff != "" {
		t.Error("the mutants are others (-want +got):", diff)
	}
}
