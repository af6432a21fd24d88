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
		Permissions map[string]string `json:"permissions"`
		Timeout     int               `json:"timeout-minutes"`
	} `json:"jobs"`
}

// A tag of an action can be moved to other code; a commit cannot. Dependabot reads the version from the comment.
var pinned = regexp.MustCompile(`uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$`)

func TestWorkflowsArePinnedAndHaveLeastPermissions(t *testing.T) {
	for _, path := range files(t, ".github/workflows") {
		content := read(t, path)
		for line := range strings.Lines(content) {
			if strings.Contains(line, "uses:") && !pinned.MatchString(strings.TrimSpace(line)) {
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
			if job.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", path, name)
			}
		}
	}
	if !strings.Contains(read(t, ".github/workflows/ci.yaml"), "run: .ci/run") {
		t.Error("the workflow ci.yaml does not run .ci/run")
	}
}

// modules returns the folders that hold a go.mod file.
func modules(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, path := range files(t, "go.mod", "**/go.mod") {
		folders = append(folders, filepath.Dir(path))
	}
	slices.Sort(folders)
	return folders
}

func TestScriptsKnowEveryModule(t *testing.T) {
	listed := strings.Fields(output(t, "bash", "-c", `source hack/modules.sh && echo "${all_modules[@]}"`))
	slices.Sort(listed)
	if diff := cmp.Diff(modules(t), listed); diff != "" {
		t.Error("hack/modules.sh differs from the go.mod files (-files +script):", diff)
	}
}

func TestDependabotKnowsEveryModule(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	for _, module := range modules(t) {
		known := false
		for _, update := range config.Updates {
			for _, pattern := range update.Directories {
				match, err := filepath.Match(pattern, filepath.Join("/", module))
				if err != nil {
					t.Fatal(err)
				}
				known = known || (match && update.Ecosystem == "gomod")
			}
		}
		if !known {
			t.Errorf("dependabot does not look after the module in %s", module)
		}
	}
}

// What is generated has to fit what it is compiled with.
func TestModulesAgreeOnVersions(t *testing.T) {
	operator := versions(t, ".")
	for _, folder := range []string{"hack/tools", "conversion/example"} {
		other := versions(t, folder)
		for _, path := range []string{"k8s.io/apimachinery", "knative.dev/pkg"} {
			if operator[path] != other[path] {
				t.Errorf("%s is %s in go.mod and %s in %s/go.mod", path, operator[path], other[path], folder)
			}
		}
		if operator["k8s.io/client-go"] != other["k8s.io/code-generator"] {
			t.Errorf("client-go is %s and its generators in %s are %s", operator["k8s.io/client-go"], folder, other["k8s.io/code-generator"])
		}
	}
	for _, folder := range modules(t) {
		if got, want := versions(t, folder)["go"], operator["go"]; got != want {
			t.Errorf("the module in %s asks for Go %s, the root for %s", folder, got, want)
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^\s*(?:require )?([\w./~-]+) (v?\d\S*)`)

// versions returns what a go.mod file requires, and the Go version under "go".
func versions(t *testing.T, folder string) map[string]string {
	t.Helper()
	required := make(map[string]string)
	for _, match := range requirement.FindAllStringSubmatch(read(t, filepath.Join(folder, "go.mod")), -1) {
		required[match[1]] = match[2]
	}
	return required
}
