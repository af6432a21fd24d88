/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		Uses     string `json:"uses"`
		Needs    string `json:"needs"`
		Strategy struct {
			Matrix map[string][]string `json:"matrix"`
		} `json:"strategy"`
		Permissions map[string]string `json:"permissions"`
		Timeout     int               `json:"timeout-minutes"`
	} `json:"jobs"`
}

// A tag of an action can be moved to other code; a commit cannot. Dependabot reads the version from the comment.
var pinned = regexp.MustCompile(`uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$`)

func TestWorkflows_Actions_ArePinnedWithLeastPermissions(t *testing.T) {
	for _, path := range files(t, ".github/workflows") {
		content := read(t, path)
		for line := range strings.Lines(content) {
			if strings.Contains(line, "uses:") && !strings.Contains(line, "uses: ./") && !pinned.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s: %q is not pinned by a full commit with its version as comment", path, strings.TrimSpace(line))
			}
		}
		var w workflow
		if err := yaml.Unmarshal([]byte(content), &w); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: permissions of the whole workflow are %v, want {}", path, w.Permissions)
		}
		for name, job := range w.Jobs {
			if len(job.Permissions) == 0 {
				t.Errorf("%s: job %s does not say which permissions it needs", path, name)
			}
			if job.Timeout == 0 && job.Uses == "" {
				t.Errorf("%s: job %s has no timeout-minutes", path, name)
			}
		}
	}
	if !strings.Contains(read(t, ".github/workflows/ci.yaml"), "run: .ci/run") {
		t.Error("the workflow ci.yaml does not run .ci/run")
	}
}

// A part that the workflow lacks would never run, and a release without the tests would not be one.
func TestWorkflows_Nightly_RunsEachPartAlsoBeforeARelease(t *testing.T) {
	parts := []string{"units", "suites"}
	if slices.ContainsFunc(files(t, "*/go.mod"), func(path string) bool { return !strings.HasPrefix(path, "hack/") }) {
		parts = append(parts, "modules")
	}
	assigned := regexp.MustCompile(`(?m)^nightly_parts=['"](?:\$\{nightly_parts\} )?([a-z ]+)['"]$`)
	for _, path := range files(t, "hack/nightly*.sh") {
		for _, match := range assigned.FindAllStringSubmatch(read(t, path), -1) {
			parts = append(parts, strings.Fields(match[1])...)
		}
	}
	for _, path := range files(t, ".github/workflows") {
		var w workflow
		if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil {
			t.Fatal(err)
		}
		switch filepath.Base(path) {
		case "nightly.yaml":
			slices.Sort(parts)
			if diff := cmp.Diff(parts, slices.Sorted(slices.Values(w.Jobs["tests"].Strategy.Matrix["part"]))); diff != "" {
				t.Error("the parts of the workflow differ from those of the scripts (-scripts +workflow):", diff)
			}
		case "release.yaml":
			if tests := w.Jobs[w.Jobs["release"].Needs]; tests.Uses != "./.github/workflows/nightly.yaml" {
				t.Errorf("the release waits for %+v, want the nightly tests", tests)
			}
		}
	}
}
