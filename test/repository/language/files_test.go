/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package language

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	root = "../../.."
	// headLength is the maximum length of the text before the line that marks a generated file.
	headLength = 400
)

var generated = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)

// others match the files whose texts other projects wrote, generated files, and the rules themselves.
var others = regexp.MustCompile(`^third_party/|^pkg/client/|/testdata/|^test/repository/language/|(^|/)zz_generated[^/]*$`)

// TestLanguage_Files_FollowTheRules prints each fault with its place and a suggestion.
func TestLanguage_Files_FollowTheRules(t *testing.T) {
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
		"*.go", "*.md", "*.yaml", "*.yml", "*.sh", ".ci/run", "Makefile")
	list.Dir = root
	paths, err := list.Output()
	if err != nil || len(paths) == 0 {
		t.Fatalf("git lists %q: %v", paths, err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(paths), "\x00"), "\x00") {
		if others.MatchString(path) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		} else if err != nil {
			t.Fatal(err)
		}
		if generated.Match(content[:min(len(content), headLength)]) {
			continue
		}
		texts, err := Texts(path, string(content))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, fault := range Check(rules, texts) {
			t.Errorf("%s:%v", path, fault)
		}
	}
}
