/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// root is the repository.
const root = "../../.."

var variables = []string{"KIND", "VERSION", "OWNS", "SCOPE"}

// thisProject returns the operator of this repository, which may be a fork.
func thisProject(t *testing.T) *project {
	t.Helper()
	p, err := readProject(root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ownKind returns a kind of this operator and the version at which reconcilers watch it.
func ownKind(t *testing.T) (kind, version string) {
	t.Helper()
	crds, err := filepath.Glob(filepath.Join(root, "config/300-*.yaml"))
	if err != nil || len(crds) == 0 {
		t.Fatalf("config/ has no CRD: %v", err)
	}
	content, err := os.ReadFile(crds[0])
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &crd); err != nil {
		t.Fatal(err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			version = v.Name
		}
	}
	return crd.Spec.Names.Kind, version
}

// newTestModel returns the model of a kind that does not exist.
func newTestModel(t *testing.T, args ...string) *model {
	t.Helper()
	options, err := ParseOptions(append([]string{"KIND=PuddleOfWater"}, args...), variables...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModel(root, options)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newFork writes the sources that readProject reads, with other names, and returns their folder.
func newFork(t *testing.T) string {
	t.Helper()
	p, fork := thisProject(t), t.TempDir()
	version := p.versions[0]
	accessor, err := p.accessor(version)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer(p.Module, "example.net/kestrel/v2", p.Group, "kestrel.example.net", p.Namespace, "kestrel-system",
		"name: "+p.App, "name: kestrel", "package "+p.APIPackage, "package kestrel", accessor+"()", "KestrelV1()")
	for from, to := range map[string]string{
		"go.mod":                                        "go.mod",
		"hack/boilerplate/boilerplate.go.txt":           "hack/boilerplate/boilerplate.go.txt",
		"pkg/apis/" + p.API + "/doc.go":                 "pkg/apis/kestrel/doc.go",
		"pkg/apis/" + p.API + "/" + version + "/doc.go": "pkg/apis/kestrel/v1/doc.go",
		"config/100-namespace.yaml":                     "config/100-namespace.yaml",
		constructors:                                    constructors,
		"pkg/client/clientset/versioned/clientset.go":   "pkg/client/clientset/versioned/clientset.go",
	} {
		content, err := p.read(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&project{root: fork}).write(to, names.Replace(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&project{root: fork}).write("pkg/apis/kestrel/v1/nest_lifecycle.go", "package v1\n"); err != nil {
		t.Fatal(err)
	}
	return fork
}

const (
	kindsOfWebhook = `package webhook

import (
	v1 "example.net/kestrel/v2/pkg/apis/kestrel/v1"
)

var builder = runtime.NewSchemeBuilder(v1.Install)
`
	mainOfWebhook = "package main\n\nvar constructors = list(\n\twebhook.NewValidationController,\n)\n"
	conversions   = "package webhook\n\nimport \"example.net/conversion/knative\"\n"
	account       = "rules:\n  - apiGroups: [\"kestrel.example.net\"]\n    resources: [\"nests\"]\n  - resourceNames: [\"nests.kestrel.example.net\"]\n"
	job           = "env:\n  - name: RESOURCES\n    value: nests.kestrel.example.net\n"
)

// newLily returns a fork without conversions that has the kind Lily at v1.
func newLily(t *testing.T, options ...string) *project {
	t.Helper()
	p := newRepository(t, map[string]string{
		"pkg/webhook/kinds.go": kindsOfWebhook, "cmd/webhook/main.go": mainOfWebhook, "pkg/webhook/controllers.go": conversions,
		"post-install/100-migrate-account.yaml": account, "post-install/200-migrate.yaml": job,
	})
	doc, err := p.read("pkg/apis/kestrel/v1/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.write("pkg/apis/kestrel/v1/doc.go", chainMarkers.ReplaceAllString(doc, "")); err != nil {
		t.Fatal(err)
	}
	p.add(t, append([]string{"KIND=Lily"}, options...)...)
	p.commit(t)
	return p
}

// add writes the files of a kind.
func (p *project) add(t *testing.T, args ...string) {
	t.Helper()
	o, err := ParseOptions(args, variables...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModel(p.root, o)
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.files()
	if err != nil {
		t.Fatal(err)
	}
	registered, err := m.register()
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, registered)
	if err := p.writeAll(files, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
}

// files returns the paths of all files.
func (p *project) files(t *testing.T) []string {
	t.Helper()
	files, err := p.git(t.Context(), "ls-files", "--cached", "--others")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(files)
}
