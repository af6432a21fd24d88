/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

var replacement = regexp.MustCompile(`(?m)^\s*(?:replace )?([\w./~-]+) => [\w./~-]+ (v\d\S*)`)

// Go compiles each version of a package. A second version of client-go adds minutes to the first `make run`.
func TestModules_KubernetesVersion_IsTheSameInAllModules(t *testing.T) {
	want := versions(t, ".")["k8s.io/client-go"]
	// The control plane replaces each module that Kubernetes releases with its own version, except k8s.io/kubernetes itself. That is at another
	// patch version while the module proxy does not have the same one; only the control plane requires it.
	var modulesOfKubernetes []string
	for _, match := range replacement.FindAllStringSubmatch(read(t, "localcluster/go.mod"), -1) {
		modulesOfKubernetes = append(modulesOfKubernetes, match[1])
	}
	if !slices.Contains(modulesOfKubernetes, "k8s.io/client-go") {
		t.Fatalf("localcluster/go.mod replaces %v, which is not each module of Kubernetes", modulesOfKubernetes)
	}
	for _, folder := range modules(t) {
		if folder == "hack/tools/ko" {
			continue // the programs of another project, which shares no package with ours that takes long
		}
		used := versions(t, folder)
		for _, match := range replacement.FindAllStringSubmatch(read(t, folder+"/go.mod"), -1) {
			used[match[1]] = match[2]
		}
		for _, module := range modulesOfKubernetes {
			if got, ok := used[module]; ok && got != want {
				t.Errorf("%s/go.mod has %s %s, and go.mod has %s: require one patch version of Kubernetes in all modules", folder, module, got, want)
			}
		}
	}
}

func TestGoflags_File_ContainsTheCompilerFlags(t *testing.T) {
	var want []string
	for _, flag := range append([]string{"-trimpath"}, controlplane.CompilerFlags()...) {
		if strings.Contains(flag, " ") {
			flag = "'" + flag + "'"
		}
		want = append(want, flag)
	}
	if got, want := strings.TrimSpace(read(t, "hack/goflags")), strings.Join(want, "\n"); got != want {
		t.Errorf("hack/goflags differs from controlplane.CompilerFlags, so that packages are compiled twice; got\n%s\nwant\n%s", got, want)
	}
}

// budget is the number of packages that `make run` compiles from empty caches, by group. About five packages take a second of CPU time.
// Ours and that of knative.dev have room for the kinds that users add: a few packages each, and the informers of their children.
var budget = map[string]int{
	ours: 120, standard: 240, otherProjects: 290,
	"k8s.io/kubernetes": 576, "k8s.io/client-go": 366, "k8s.io/apiserver": 191, "k8s.io/kubectl": 85, "k8s.io": 403, "sigs.k8s.io": 90,
	"knative.dev": 68, "go.etcd.io": 94, "google.golang.org": 121, "go.opentelemetry.io": 103, "golang.org": 60,
}

// The groups that are no project.
const (
	ours          = "this repository"
	standard      = "the standard library"
	otherProjects = "other projects"
)

func TestRun_PackagesToCompile_StayWithinBudget(t *testing.T) {
	got := map[string]int{}
	for name, versions := range packagesOfRun(t) {
		got[group(name)] += len(versions)
	}
	for _, group := range slices.Sorted(maps.Keys(got)) {
		if got[group] > budget[group] {
			t.Errorf("make run compiles %d packages of %s, the budget is %d: leave out the import that adds them, or raise the budget if they are worth it",
				got[group], group, budget[group])
		}
	}
}

// A package that depends on a module at two versions is compiled twice, also if its own version is the same.
func TestRun_ModulesOfSeveralPrograms_HaveOneVersion(t *testing.T) {
	reported := map[string]bool{}
	for _, versions := range packagesOfRun(t) {
		if text := strings.Join(slices.Sorted(maps.Keys(versions)), " and "); len(versions) > 1 && !reported[text] {
			reported[text] = true
			t.Errorf("make run compiles packages of %s: require one version in go.mod, localcluster/go.mod and localcluster/env/go.mod", text)
		}
	}
}

// packagesOfRun lists the packages that `make run` compiles, and for each the modules, as PATH@VERSION, that contain it in some program.
func packagesOfRun(t *testing.T) map[string]map[string]bool {
	t.Helper()
	packages := map[string]map[string]bool{}
	for folder, programs := range map[string][]string{
		"localcluster": {"."},
		".":            {"./cmd/controller", "./cmd/webhook", "./cmd/hooks", whole("localcluster/env/cmd/run")},
	} {
		const format = `{{.ImportPath}} {{with .Module}}{{.Path}}@{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}`
		args := []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "go", "-C", folder, "list", "-deps", "-f", format}
		for line := range strings.Lines(output(t, "env", append(args, programs...)...)) {
			name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
			if packages[name] == nil {
				packages[name] = map[string]bool{}
			}
			packages[name][cmp.Or(version, standard)] = true
		}
	}
	return packages
}

// group is the one with the longest name that a package is below.
func group(name string) string {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case isBelow(name, module):
		return ours
	case !strings.Contains(first, "."):
		return standard
	}
	for group := name; group != "."; group = path.Dir(group) {
		if budget[group] > 0 {
			return group
		}
	}
	return otherProjects
}
