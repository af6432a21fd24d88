/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestRenderCanBeReadBack(t *testing.T) {
	crds, err := generate(".", "./testdata/good/...")
	if err != nil {
		t.Fatal("generate:", err)
	}
	manifest, err := render(crds[0])
	if err != nil {
		t.Fatal("render:", err)
	}
	if !strings.HasPrefix(string(manifest), header) {
		t.Error("the manifest does not start with the header that marks it as generated")
	}
	var got apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(manifest, &got); err != nil {
		t.Fatal("reading the manifest back:", err)
	}
	if diff := cmp.Diff(crds[0], &got); diff != "" {
		t.Error("the manifest says something else than the CRD (-CRD +manifest):", diff)
	}
	for _, foreign := range []string{"\nstatus:", "creationTimestamp"} {
		if strings.Contains(string(manifest), foreign) {
			t.Errorf("the manifest sets %q, which is the API server's", foreign)
		}
	}
}

func TestRenderRefusesWhatCannotBeApplied(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "whales.example.com"
	crd.Annotations = map[string]string{"song": strings.Repeat("o", maxSize)}
	if _, err := render(crd); err == nil || !strings.Contains(err.Error(), crd.Name) {
		t.Errorf("error is %v, want one that names the CRD as too big", err)
	}
}

func TestReplaceRemovesOnlyWhatItWrote(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"300-dodo.yaml":  header + "the kind is no more",
		"300-goose.yaml": header + "an earlier state",
		"300-hand.yaml":  "written by hand",
		"400-other.yaml": header + "not a definition",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := replace(folder, map[string][]byte{"300-goose.yaml": []byte("new")}); err != nil {
		t.Fatal("replace:", err)
	}

	got := make(map[string]string)
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[entry.Name()] = string(content)
	}
	want := map[string]string{
		"300-goose.yaml": "new",
		"300-hand.yaml":  "written by hand",
		"400-other.yaml": header + "not a definition",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("files differ (-want +got):", diff)
	}
}

func TestRunWritesNothingWhenAKindIsRefused(t *testing.T) {
	folder := t.TempDir()
	if err := run([]string{"--packages", "./testdata/undescribed/...", "--output", folder}); err == nil {
		t.Fatal("run accepts a kind without descriptions")
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 0 {
		t.Errorf("run wrote %v", entries)
	}
}
