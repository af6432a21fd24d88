/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"regexp"
	"strings"
	"testing"

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

func TestWorkflows_Actions_ArePinnedWithLeastPermissions(t *testing.T) {
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
