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
			// The condition is True with these.
			if reason := match[1]; reason != "NotRequested" && reason != "NoWebhook" && !strings.Contains(page, "`"+reason+"`") {
				t.Errorf("docs/how-to/troubleshoot.md has no step for the reason %s", reason)
			}
			reasons++
		}
	}
	if reasons == 0 {
		t.Error("pkg/apis declares no reason")
	}
}

// TestAddAKind_EachGeneratedReason_IsExplained finds the reasons that a kind of make kind declares in the tables of the page, with their status. A reason
// of both shapes has two rows.
func TestAddAKind_EachGeneratedReason_IsExplained(t *testing.T) {
	page := read(t, "docs/how-to/add-a-kind.md")
	rows := map[string]int{}
	for _, folder := range []string{"version", "external/version"} {
		template := read(t, "hack/template/kind/templates/"+folder+"/lifecycle.go.tmpl")
		reasons := regexp.MustCompile(`Reason(\w+) \((\w+)\): `).FindAllStringSubmatch(template, -1)
		if declared := strings.Count(template, "}}Reason") / 2; len(reasons) != declared || declared == 0 {
			t.Errorf("the template in %s declares %d reasons, %d of them with a status", folder, declared, len(reasons))
		}
		for _, match := range reasons {
			rows["| `"+match[1]+"` | "+match[2]+" |"]++
		}
	}
	for row, want := range rows {
		if got := strings.Count(page, row); got != want {
			t.Errorf("docs/how-to/add-a-kind.md has %d rows that begin with %s, want %d", got, row, want)
		}
	}
}
