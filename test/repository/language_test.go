/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/test/repository/language"
)

// others match the files whose texts other projects wrote, generated files, and the rules themselves.
var others = []string{"third_party/", "pkg/client/", "/testdata/", "test/repository/language/"}

// TestLanguage_Files_FollowTheRules prints each fault with its place and a suggestion. Files and folders in language/pending.yaml do not
// follow the rules listed there yet. An entry without a fault has to be removed, so that the list only shrinks.
func TestLanguage_Files_FollowTheRules(t *testing.T) {
	rules, err := language.Rules()
	if err != nil {
		t.Fatal(err)
	}
	pending := pending{used: make(map[string]bool)}
	if err := yaml.UnmarshalStrict([]byte(read(t, "test/repository/language/pending.yaml")), &pending.entries); err != nil {
		t.Fatal("language/pending.yaml:", err)
	}
	for _, path := range files(t, "*.go", "*.md", "*.yaml", "*.yml", "*.sh", ".ci/run", "Makefile") {
		content := read(t, path)
		if isOther(path) || generatedHeader.MatchString(content[:min(len(content), 2*headLength)]) {
			continue
		}
		texts, err := language.Texts(path, content)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, fault := range language.Check(rules, texts) {
			if !pending.has(path, fault.Rule) {
				t.Errorf("%s:%v", path, fault)
			}
		}
	}
	for path, names := range pending.entries {
		for _, name := range names {
			if !pending.used[path+" "+name] {
				t.Errorf("language/pending.yaml: %s follows rule %s: remove the entry", path, name)
			}
		}
	}
}

// pending lists the rules that files and folders do not follow yet.
type pending struct {
	entries map[string][]string
	used    map[string]bool
}

// has reports whether an entry covers the file and the rule, and marks each such entry as used.
func (p *pending) has(path, rule string) bool {
	found := false
	for prefix, names := range p.entries {
		if path != prefix && !strings.HasPrefix(path, prefix+"/") {
			continue
		}
		for _, name := range names {
			if name == rule || name == "*" {
				p.used[prefix+" "+name], found = true, true
			}
		}
	}
	return found
}

func isOther(path string) bool {
	for _, other := range others {
		if strings.HasPrefix(path, other) || strings.HasPrefix(other, "/") && strings.Contains(path, other) {
			return true
		}
	}
	return strings.HasPrefix(filepath.Base(path), "zz_generated")
}
