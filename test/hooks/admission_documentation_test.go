//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const root = "../.."

// The commands of the documentation, with the process of the overlay, which has the permissions of the manifest alone. As in a rollout, the replica
// with the hooks is ready before it leads.
func TestAdmission_Documentation_IsWhatTheProcessDoes(t *testing.T) {
	data := t.TempDir()
	if err := os.CopyFS(filepath.Join(data, "hooks"), os.DirFS(filepath.Join(root, "docs/reference/hooks"))); err != nil {
		t.Fatal(err)
	}
	env := harness.Own(t, harness.WithOverlay("hooks"), harness.WithReplicas("hooks", 2), harness.Without("hooks-1"),
		harness.WithEnv("hooks-1", "KO_DATA_PATH", data))
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```console shown-by=test/hooks:"+t.Name()+"\n$ ")
	text, _, _ = strings.Cut(text, "\n```")
	run := func(command string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "KUBECONFIG="+env.Kubeconfig, "PATH="+env.KubectlPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput() // compared, also if the command fails
		return strings.TrimSpace(string(out))
	}
	for i, part := range strings.Split(text, "\n$ ") {
		command, want, _ := strings.Cut(part, "\n")
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", `[^\n]*`) + "$")
		attempts := []string{command}
		if strings.HasPrefix(want, "error: ") {
			// Until the API server knows of the webhooks, it would create the object.
			attempts = []string{command + " --dry-run=server", command}
		}
		for _, attempt := range attempts {
			harness.Eventually(t, attempt, func(context.Context) error {
				if out := run(attempt); !pattern.MatchString(out) {
					return fmt.Errorf("it prints:\n%s\nwant:\n%s", out, want)
				}
				return nil
			})
		}
		if i == 0 {
			env.Process(t, "hooks-1").Start(t) // the manifest is applied
			env.Process(t, "hooks").Stop(t)
		}
	}
	if exits := env.TakeExits(); len(exits) > 0 {
		t.Error(exits)
	}
}
