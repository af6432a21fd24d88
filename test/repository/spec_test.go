/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// chapters are in the page of every kind, in this order. Others may stand between them.
var chapters = []string{"Example", "Spec", "Working with it", "Status", "Events", "Metrics", "Limits"}

var chapter = regexp.MustCompile(`(?m)^## (.*)$`)

// Who knows the page of one kind finds everything in that of another.
func TestReference_Kinds_HaveAPageWithTheSameChapters(t *testing.T) {
	pages := 0
	for _, object := range configObjects(t) {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		pages++
		kind := into[apiextensionsv1.CustomResourceDefinition](t, object).Spec.Names.Kind
		page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "api", strings.ToLower(kind)+".md"))
		if err != nil {
			t.Errorf("%s has no page: %v", kind, err)
			continue
		}
		var found []string
		for _, match := range chapter.FindAllSubmatch(page, -1) {
			if title := string(match[1]); slices.Contains(chapters, title) {
				found = append(found, title)
			}
		}
		if !slices.Equal(found, chapters) {
			t.Errorf("the page of %s has of the chapters %q, in this order, only %q", kind, chapters, found)
		}
	}
	if pages == 0 {
		t.Fatal("config/ has no CRD")
	}
}

// The reconciler's unit test and the suite run each row of the file.
func TestReference_URLsOfAService_EqualTheTestedRows(t *testing.T) {
	const page, file = "docs/reference/api/addressableservice.md", "test/addressableservice/urls/urls.txt"
	_, section, _ := strings.Cut(read(t, page), "\n| Service | `spec.ports` | result |\n|---|---|---|\n")
	if rows, _, _ := strings.Cut(section, "\n\n"); rows+"\n" != read(t, file) {
		t.Errorf("the rows under \"URLs of a Service\" in %s differ from those of %s; copy the rows of the file", page, file)
	}
}

// A reason is a constant of the code: one that begins with Reason, or with its kind and Reason.
func TestReasons_EachConstant_IsOnThePageWithItsRemedy(t *testing.T) {
	const page = "docs/reference/reasons-and-events.md"
	content := read(t, page)
	constant := regexp.MustCompile(`(?m)^(?:const |\t)(\w*Reason[A-Z]\w*) += "(\w+)"$`)
	reasons := 0
	for _, path := range files(t, "pkg/*.go", "crud/*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "pkg/client/") {
			continue
		}
		for _, match := range constant.FindAllStringSubmatch(read(t, path), -1) {
			reasons++
			row := regexp.MustCompile("(?m)^\\| `" + match[2] + "` \\| (.*) \\|$").FindStringSubmatch(content)
			switch {
			case row == nil:
				t.Errorf("%s lacks reason %s, constant %s of %s: run make generate", page, match[2], match[1], path)
			case strings.HasPrefix(row[1], "True"):
				// The state is the desired one.
			case strings.HasSuffix(row[1], "| –"):
				t.Errorf("%s: the comment of %s has no sentence that begins with \"Remedy:\"", path, match[1])
			case strings.Contains(row[1], "| None.") && !strings.Contains(row[1], "If it lasts, "):
				t.Errorf("%s: the remedy of %s contains no step, and the state may last: state what to check", path, match[1])
			}
		}
	}
	if reasons == 0 {
		t.Fatal("the code declares no reason")
	}
}
