/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
)

func TestUnexpected_LinesOfALog_AreThoseOfTheSuite(t *testing.T) {
	line := func(severity, key string) string {
		return `{"severity":"` + severity + `","knative.dev/key":"` + key + `"}`
	}
	log := []string{
		line("ERROR", "t-ours-abcde/a"), line("ERROR", "t-ours-abcde/declared"), line("INFO", "t-ours-abcde/a"),
		line("ERROR", "t-theirs-abcde/a"), line("FATAL", ""), "panic: no JSON",
		line("ERROR", "of another suite"), line("ERROR", "customresourcedefinitions"), line("ERROR", "t-ours-abcde/a: "+rejection), line("ERROR", "t-ours-abcde/a "+elector+": context canceled"),
	}
	for name, tc := range map[string]struct {
		attached bool
		want     []string
	}{
		"OwnEnvironment":    {false, []string{log[0], log[3], log[4], log[6], log[7]}},
		"SharedEnvironment": {true, []string{log[0], log[4], log[7]}},
	} {
		t.Run(name, func(t *testing.T) {
			running := &environment.Env{Kubeconfig: t.TempDir() + "/cluster/admin.kubeconfig"}
			if err := os.MkdirAll(filepath.Dir(running.LogFile("controller")), 0o700); err != nil {
				t.Fatal(err)
			}
			env := &Env{environment: running, attached: tc.attached, namespaces: []string{"t-ours-abcde"}}
			env.ExpectErrors(t, "/declared")
			other := &Env{environment: running, attached: tc.attached}
			other.ExpectErrors(t, "of another suite")
			if got := env.unexpected(slices.Clone(log)); !slices.Equal(got, tc.want) {
				t.Errorf("got the unexpected errors\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

func TestCheckErrors_UndeclaredError_IsQuoted(t *testing.T) {
	env := &Env{environment: &environment.Env{Kubeconfig: t.TempDir() + "/cluster/admin.kubeconfig"}}
	const line = `{"severity":"ERROR","message":"Reconcile error"}`
	path := env.environment.LogFile("controller")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := env.checkErrors(env.logs()); err != nil {
		t.Errorf("got error %v about lines from before", err)
	}
	if err := env.checkErrors(nil); err == nil || !strings.Contains(err.Error(), "with ExpectErrors: 1, ") || !strings.Contains(err.Error(), line) {
		t.Errorf("got error %v, want one with the line", err)
	}
	env.ExpectErrors(t, "Reconcile error")
	if err := env.checkErrors(nil); err != nil {
		t.Errorf("got error %v although it is declared", err)
	}
}
