/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_Documents_ReturnsObjects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		want   []string
		err    string
	}{
		"TwoDocuments": {
			reason: "documents keep their order",
			text:   "apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\n",
			want:   []string{"Namespace b", "Secret b/a"},
		},
		"EmptyDocuments": {
			reason: "a comment alone, as in a license header, is no object",
			text:   "# header\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n---\n",
			want:   []string{"Namespace b"},
		},
		"List": {
			reason: "a List is what kubectl get -o yaml writes",
			text:   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n",
			want:   []string{"Namespace a", "Namespace b"},
		},
		"NotYAML":      {reason: "the document is named", text: "a: b\n---\n{", err: "document 1: not a Kubernetes object"},
		"Scalar":       {reason: "a mapping is needed", text: "hello", err: "document 1: not a YAML mapping"},
		"DuplicateKey": {reason: "which of the two is meant is unknown", text: "apiVersion: v1\napiVersion: v2\n", err: `"apiVersion" already set`},
		"NoVersion":    {reason: "the field is named", text: "kind: Secret\nmetadata: {name: a}\n", err: "apiVersion is missing"},
		"Kustomization": {
			reason: "its patches would be left out",
			text:   "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../config]\n",
			err:    "document 1: a Kustomization changes manifests",
		},
		"NoName": {reason: "the field is named", text: "apiVersion: v1\nkind: Secret\n", err: "metadata.name of the Secret is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := Parse([]byte(test.text))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("%s: got error %v, want one with %q", test.reason, err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			var got []string
			for _, object := range objects {
				got = append(got, Name(object, object.GetKind()))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestServeAllVersions_CRD_ServesEach(t *testing.T) {
	t.Parallel()
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ducks.example.com}\nspec: {versions: "
	objects, err := Parse([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n" +
		crd + "[{name: v1, served: true, storage: true}, {name: v1alpha1, served: false, storage: false}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := ServeAllVersions(objects); err != nil {
		t.Fatal(err)
	}
	want, err := Parse([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n" +
		crd + "[{name: v1, served: true, storage: true}, {name: v1alpha1, served: true, storage: false}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, objects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	broken, err := Parse([]byte(crd + "1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := ServeAllVersions(broken); err == nil || !strings.Contains(err.Error(), "CustomResourceDefinition ducks.example.com: ") {
		t.Errorf("versions that are no list: got error %v, want one that names the CRD", err)
	}
}

func TestReadDir_Folder_ReturnsObjectsInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "holds no manifest") {
		t.Errorf("an empty folder: got error %v, want one that says so", err)
	}
	write("200-b.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n")
	write("100-a.json", `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}`)
	write("samples/c.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: c}\n")
	write("README.md", "not a manifest")
	objects, err := ReadDir(filepath.Join(dir, "samples"), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range objects {
		got = append(got, object.GetName())
	}
	if diff := cmp.Diff([]string{"c", "a", "b"}, got); diff != "" {
		t.Errorf("folders as they are listed, files by name, folders in them left out (-want +got):\n%s", diff)
	}
	write("300-broken.yaml", "kind: [")
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "300-broken.yaml: document 1") {
		t.Errorf("a broken file: got error %v, want one that names it", err)
	}
}
