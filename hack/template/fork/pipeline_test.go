/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"maps"
	"os/exec"
	slashpath "path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// partsOfTheTests matches the parts that a workflow runs.
	partsOfTheTests = regexp.MustCompile(`part: \[(.*)\]`)
	// updatedModules matches folders whose Go modules dependabot updates.
	updatedModules = regexp.MustCompile(`(?m)^  - package-ecosystem: gomod\n    directories: \[(.*)\]$`)
)

func TestPipeline_EjectedModules_AreTestedAndUpdated(t *testing.T) {
	all, err := committed(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(ejectable))
	for _, eject := range [][]string{nil, {"conversion"}, {"crud"}, {"hardening"}, {"localcluster"}, {"observe"}, names} {
		t.Run(strings.Join(eject, ","), func(t *testing.T) {
			files := maps.Clone(all)
			if err := (Arguments{Kinds: kinds(), Eject: eject}).reduce(files); err != nil {
				t.Fatal(err)
			}
			var folders []string
			for path := range files {
				if slashpath.Base(path) == "go.mod" {
					folders = append(folders, "/"+strings.TrimSuffix(strings.TrimSuffix(path, "go.mod"), "/"))
				}
			}
			files.expectUpdates(t, folders)
			hasModules := slices.ContainsFunc(folders, func(folder string) bool { return folder != "/" && !strings.HasPrefix(folder, "/hack/") })
			for _, path := range []string{".github/workflows/ci.yaml", ".github/workflows/nightly.yaml"} {
				parts := partsOfTheTests.FindSubmatch(files[path].content)
				if parts == nil || slices.Contains(strings.Split(string(parts[1]), ", "), "modules") != hasModules {
					t.Errorf("%s runs the parts %q; the fork has modules to test: %v", path, parts, hasModules)
				}
			}
		})
	}
}

// Without any one product, the workflows that are left are valid, and call no workflow that is left out. actionlint finds a called workflow from the
// root of the git repository.
func TestPipeline_EachProductLeftOut_WorkflowsAreValid(t *testing.T) {
	all, err := committed(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	actionlint, err := exec.CommandContext(t.Context(), "go", "-C", "../../tools/actionlint", "tool", "-n", "actionlint").Output()
	if err != nil {
		t.Fatal(err)
	}
	ofProduct := map[string][]string{"ci": {"ci.yaml", "nightly.yaml"}, "release": {"release.yaml"}}
	for _, product := range products() {
		t.Run(product, func(t *testing.T) {
			files, workflows, root := maps.Clone(all), make(tree), t.TempDir()
			if err := (Arguments{Kinds: kinds(), Without: []string{product}}).reduce(files); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, path := range files.find(".github/workflows") {
				workflows[path] = files[path]
				names = append(names, slashpath.Base(path))
			}
			slices.Sort(names)
			want := slices.DeleteFunc([]string{"ci.yaml", "nightly.yaml", "release.yaml"}, func(name string) bool {
				return slices.Contains(ofProduct[product], name)
			})
			if !slices.Equal(names, want) {
				t.Errorf("the fork has the workflows %q, want %q", names, want)
			}
			if err := workflows.write(root); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"git", "init", "--quiet"}, {strings.TrimSpace(string(actionlint))}} {
				cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
				cmd.Dir = root
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", args[0], err, out)
				}
			}
		})
	}
}

// expectUpdates expects dependabot to update the modules in these folders and no others.
func (t tree) expectUpdates(tb testing.TB, folders []string) {
	tb.Helper()
	matched := make(map[string]bool)
	for _, match := range updatedModules.FindAllSubmatch(t[".github/dependabot.yml"].content, -1) {
		for pattern := range strings.SplitSeq(strings.ReplaceAll(string(match[1]), `"`, ""), ", ") {
			before := len(matched)
			for _, folder := range folders {
				if ok, err := slashpath.Match(pattern, folder); err != nil || ok {
					matched[folder] = true
				}
			}
			if len(matched) == before {
				tb.Errorf("dependabot updates %s, which has no module", pattern)
			}
		}
	}
	for _, folder := range folders {
		if !matched[folder] {
			tb.Errorf("dependabot does not update the module in %s", folder)
		}
	}
}
