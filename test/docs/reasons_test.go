/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTroubleshoot_EachReason_HasAStep finds the reasons of all conditions in the page, which users search by reason.
func TestTroubleshoot_EachReason_HasAStep(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "pkg/apis/samples/*/*_lifecycle.go"))
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, "docs/how-to/troubleshoot.md")
	declaration := regexp.MustCompile(`(?m)^\tReason\w+ += "(\w+)"$`)
	reasons := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declaration.FindAllStringSubmatch(string(content), -1) {
			// The condition is True with this one.
			if reason := match[1]; reason != "NotRequested" && !strings.Contains(page, "`"+reason+"`") {
				t.Errorf("docs/how-to/troubleshoot.md has no step for the reason %s", reason)
			}
			reasons++
		}
	}
	if reasons == 0 {
		t.Error("pkg/apis declares no reason")
	}
}
