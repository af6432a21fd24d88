/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"slices"
	"strings"
	"testing"

	"knative.dev/pkg/depcheck"
)

// leaf is the package that any other can import.
const leaf = "pkg/apis/config/strict"

// layers lists the packages that must not depend on others, not even indirectly. Paths are below the module, or whole
// ones; both stand for everything below them too.
var layers = []struct {
	packages  string
	except    string // packages below it have a separate rule
	forbidden []string
	because   string
}{{
	packages:  "pkg/apis",
	forbidden: []string{"pkg/client", "pkg/reconciler", "pkg/webhook", "knative.dev/pkg/controller", "knative.dev/pkg/injection", "knative.dev/pkg/webhook"},
	because:   "others import the types without linking the operator",
}, {
	packages:  "pkg/client",
	forbidden: []string{"pkg/reconciler", "pkg/webhook", "knative.dev/pkg/webhook"},
	because:   "it is generated from the types alone",
}, {
	packages:  "pkg/migration",
	forbidden: []string{"pkg/apis", "pkg/client", "conversion", "pkg/reconciler", "pkg/webhook"},
	because:   "it moves objects of any kind, which it knows by their CRD alone",
}, {
	packages:  "pkg/reconciler",
	forbidden: []string{"pkg/webhook", "pkg/migration"},
	because:   "a reconciler can run in any process",
}, {
	packages:  "pkg/webhook",
	forbidden: []string{"pkg/reconciler"},
	because:   "a webhook can run in any process",
}, {
	packages:  leaf,
	forbidden: []string{"."},
	because:   "packages of types import it",
}, {
	packages:  "observe",
	forbidden: []string{"pkg", "cmd", "conversion", "localcluster", "test", "hardening", "crud"},
	because:   "it is a library for any process with injection",
}, {
	packages:  "crud",
	except:    "crud/hook",
	forbidden: []string{"pkg", "cmd", "conversion", "localcluster", "test", "observe", "knative.dev/pkg"},
	because:   "it is a library for any program with a kubeconfig",
}, {
	packages:  "crud/hook",
	forbidden: []string{"pkg", "cmd", "conversion", "localcluster", "test", "hardening"},
	because:   "it is a library for any process with injection",
}, {
	packages:  "confidential",
	forbidden: []string{"pkg", "cmd", "conversion", "localcluster", "test", "observe", "crud", "knative.dev/pkg", "k8s.io/client-go"},
	because:   "every library that shows errors imports it",
}, {
	packages:  "cmd",
	forbidden: []string{"localcluster", "test"},
	because:   "what runs and tests the operator on a developer's machine must not end up in an image",
}, {
	packages:  "pkg",
	forbidden: []string{"cmd", "hardening", "observe", "crud", "localcluster", "test"},
	because:   "it looks like any code on knative.dev/pkg, and works without what hardens it",
}, {
	packages:  ".",
	forbidden: []string{"k8s.io/kubernetes"},
	because:   "the control plane is a separate process, and linking it takes minutes",
}}

func TestLayers_Imports_AreAllowed(t *testing.T) {
	imports := dependencies(t, ".")
	for path, of := range imports {
		imports[path] = slices.DeleteFunc(of, func(dependency string) bool { return dependency == whole(leaf) })
	}
	for _, layer := range layers {
		for _, forbidden := range layer.forbidden {
			t.Run(layer.packages+" without "+forbidden, func(t *testing.T) {
				packages := slices.DeleteFunc(below(imports, whole(layer.packages)), func(path string) bool {
					return layer.except != "" && isBelow(path, whole(layer.except))
				})
				expectNoDependency(t, imports, packages, whole(forbidden), layer.because)
			})
		}
	}
}

// Reconcilers meet in the API server only: what one of them knows of another's kind is in pkg/apis.
func TestLayers_Reconcilers_DoNotImportEachOther(t *testing.T) {
	imports := dependencies(t, ".")
	all, shared := whole("pkg/reconciler")+"/", whole("pkg/failures")
	var reconcilers []string
	for path := range imports {
		if rest, ok := strings.CutPrefix(path, all); ok {
			kind, _, _ := strings.Cut(rest, "/")
			reconcilers = append(reconcilers, all+kind)
		}
	}
	slices.Sort(reconcilers)
	reconcilers = slices.Compact(reconcilers)
	if len(reconcilers) == 0 {
		t.Fatalf("there is no package below %s", all)
	}
	for _, one := range reconcilers {
		for _, other := range reconcilers {
			if one != other && other != shared {
				expectNoDependency(t, imports, below(imports, one), other, "reconcilers meet in the API server only")
			}
		}
	}
}

// expectNoDependency reports, with a chain of imports, each package that depends on something below the forbidden path.
func expectNoDependency(t *testing.T, imports map[string][]string, packages []string, forbidden, because string) {
	t.Helper()
	if len(packages) == 0 {
		t.Fatal("the rule is about packages that do not exist")
	}
	for _, path := range packages {
		for _, dependency := range imports[path] {
			if !isBelow(dependency, forbidden) {
				continue
			}
			t.Errorf("%s must not depend on %s: %s", path, forbidden, because)
			if err := depcheck.CheckNoDependency(path, []string{dependency}); err != nil {
				t.Log(err)
			}
			break
		}
	}
}

// dependencies returns all dependencies, direct and indirect, of each package of the module in the folder, without those that
// only its tests have.
func dependencies(t *testing.T, folder string) map[string][]string {
	t.Helper()
	imports := make(map[string][]string)
	listing := output(t, "go", "-C", folder, "list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, "./...")
	for line := range strings.Lines(listing) {
		paths := strings.Fields(line)
		imports[paths[0]] = paths[1:]
	}
	return imports
}

func below(imports map[string][]string, parent string) []string {
	var paths []string
	for path := range imports {
		if isBelow(path, parent) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func isBelow(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

const module = "github.com/mallard-dev/mallard"

// whole completes a path below the module.
func whole(path string) string {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case path == ".":
		return module
	case strings.Contains(first, "."):
		return path
	default:
		return module + "/" + path
	}
}
