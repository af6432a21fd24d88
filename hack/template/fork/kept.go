/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"fmt"
	"maps"
	"slices"
)

// kept is a set of files that a fork has from the template. It has no others.
type kept struct {
	// product is the value of WITHOUT that leaves the files out. A fork always has files without a product.
	product string
	// paths of files and folders, as patterns of path.Match.
	paths []string
	// reason that the files are the fork's own, rather than part of a module that it requires.
	reason string
}

// keeps lists all files of a fork. docs/how-to/fork.md shows the list.
var keeps = []kept{
	{"", []string{"cmd/*.go", "cmd/controller", "cmd/webhook"}, "the processes, each a main that lists its constructors"},
	{"", []string{"pkg"}, "the types, the reconcilers and the webhook: the operator itself"},
	{"", []string{"config", "samples"}, "what is installed, and an object of each kind"},
	{"", []string{"go.mod", "go.sum", "LICENSE"}, "the modules that the operator is built from"},
	{"", []string{"Makefile", ".editorconfig", ".gitattributes", ".gitignore", ".golangci.yaml", ".ko.yaml"}, "how it is built and linted"},
	{"", []string{
		"hack/boilerplate", "hack/goflags", "hack/lint.sh", "hack/modules.sh", "hack/nightly.sh", "hack/report.sh", "hack/test.sh",
		"hack/update-codegen.sh", "hack/update-kustomization.sh", "hack/update-licenses.sh", "hack/verify*.sh",
	}, "scripts that generate, check and test the fork's code"},
	{"", []string{"hack/tools/go.*", "hack/tools/actionlint", "hack/tools/ko/go.*", "hack/tools/lint"}, "the versions of the tools that these scripts run"},
	{"", []string{
		"test/addressableservice", "test/addressbinding", "test/simpledeployment", "test/fixtures", "test/measured", "test/reconcilertest",
	}, "the suites of the kinds"},
	{"", []string{"test/operator"}, "what holds for every kind: permissions, installation, availability, costs and faults"},
	{"", []string{"test/doc.go", "test/repository"}, "conventions of the repository"},
	{"ci", []string{
		".ci", ".github/dependabot.yml", ".github/workflows/ci.yaml", ".github/workflows/nightly.yaml",
	}, "the pipeline of each change and of each night"},
	{"release", []string{"hack/release.sh", ".github/workflows/release.yaml"}, "images and manifests of a tag"},
	{"overlays", []string{"kustomize"}, "variants of the installation"},
	{"monitoring", []string{"monitoring"}, "alerts, a dashboard, and how Prometheus finds the operator"},
	{"hooks", []string{"cmd/hooks", "kustomize/overlays/hooks"}, "programs in any language that answer changes"},
	{"migrate", []string{"cmd/migrate", "post-install"}, "the migration of stored objects"},
	{"observer", []string{"cmd/observer", "optional"}, "the example of an observer"},
}

// products returns the values of WITHOUT.
func products() []string {
	var names []string
	for _, k := range keeps {
		if k.product != "" {
			names = append(names, k.product)
		}
	}
	return names
}

// modules are the folders of packages and programs that a fork requires from the template by version. EJECT copies some of them instead.
var modules = []string{
	"confidential", "conversion", "crud", "hack/template", "hack/tools/crd-gen", "hack/tools/generators", "hardening", "localcluster", "observe",
	"pkg/migration",
}

// ejectable are the values of EJECT with the paths that each copies. Packages of the root module become packages of the fork's.
var ejectable = map[string][]string{
	"conversion":   {"conversion/*.go", "conversion/go.*", "conversion/conversiontest", "conversion/fixtures", "conversion/knative", "conversion/cmd"},
	"crud":         {"crud"},
	"hardening":    {"hardening"},
	"localcluster": {"localcluster", "hack/update-versions.sh"},
	"observe":      {"observe"},
}

// required returns the folders of packages and programs that the fork requires.
func (a Arguments) required() []string {
	return slices.DeleteFunc(slices.Clone(modules), func(folder string) bool {
		return slices.Contains(a.Eject, folder)
	})
}

// keep removes all files that the fork does not have.
func (a Arguments) keep(files tree) error {
	all := maps.Clone(files)
	clear(files)
	ejected := kept{}
	for _, name := range a.Eject {
		ejected.paths = append(ejected.paths, ejectable[name]...)
	}
	for _, k := range append(slices.Clone(keeps), ejected) {
		if slices.Contains(a.Without, k.product) {
			continue
		}
		for _, pattern := range k.paths {
			paths := all.find(pattern)
			if len(paths) == 0 {
				return fmt.Errorf("the template has no file %s, which forks keep", pattern)
			}
			for _, path := range paths {
				files[path] = all[path]
			}
		}
	}
	for _, folder := range append(a.required(), "pkg/client") { // pkg/client is generated
		for _, path := range files.find(folder) {
			delete(files, path)
		}
	}
	return nil
}
