/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKind_NamesOutsideItsOwnFolders_AreFew bounds what is left to edit by hand when a kind is removed. A place is a file, whether it names
// the kind once or often. Not counted are
//   - the kind's own files and folders, which are deleted, and those of other kinds;
//   - generated files;
//   - other modules and make kind, whose examples may have the same name;
//   - tests and the faults that they find, which belong to the promise that they show, with whichever kind serves as the example;
//   - the overlays all-versions and no-webhooks and the configuration of the webhooks, whose parts for a kind that does not exist have no effect;
//   - the changelog and the pages of docs/, for the same reason;
//   - the record of a fork.
func TestKind_NamesOutsideItsOwnFolders_AreFew(t *testing.T) {
	const most = 8
	var kinds []string
	for _, path := range files(t, "config/300-*.yaml") {
		kinds = append(kinds, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "300-"), ".yaml"))
	}
	own := regexp.MustCompile(`(?i)` + strings.Join(append(kinds, "^pkg/binding/"), "|")) // package binding is a part of AddressBinding
	excluded := regexp.MustCompile(`_test\.go$|^(test|docs|pkg/client|third_party|conversion|localcluster|hack/mutants|hack/template)/|/zz_generated|^CHANGELOG\.md$|^\.template\.yaml$|/Kustomization$|^kustomize/overlays/(all-versions|no-webhooks)/|^config/500-webhook-configuration\.yaml$`)
	for _, kind := range kinds {
		crd := read(t, "config/300-"+kind+".yaml")
		names := []string{kind}
		if short := regexp.MustCompile(`shortNames:\s+- (\S+)`).FindStringSubmatch(crd); short != nil {
			names = append(names, `\b`+short[1]+`\b`)
		}
		named := regexp.MustCompile(`(?i)` + strings.Join(names, "|"))
		places := slices.DeleteFunc(files(t), func(path string) bool {
			content := read(t, path)
			return own.MatchString(path) || excluded.MatchString(path) || generatedHeader.MatchString(content) || !named.MatchString(content)
		})
		if len(places) > most {
			t.Errorf("%s is named in %d files outside its own, want at most %d:\n  %s", kind, len(places), most, strings.Join(places, "\n  "))
		}
		t.Logf("%s: %q", kind, places)
	}
}

// mostLinesOfWiring bounds the file with the constructor of a controller.
const mostLinesOfWiring = 90

func TestControllers_Wiring_IsShort(t *testing.T) {
	files := strings.Fields(output(t, "git", "ls-files", "pkg/reconciler/*/controller.go"))
	if len(files) == 0 {
		t.Fatal("no reconciler has a controller.go")
	}
	for _, file := range files {
		text := read(t, file)
		if n := strings.Count(text, "\n"); n > mostLinesOfWiring {
			t.Errorf("%s has %d lines, want at most %d", file, n, mostLinesOfWiring)
		}
	}
}
