/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// script adds an executable hook. Each run records its task and its binding contexts, and continues with the body.
func (s *scene) script(name, config, body string) {
	s.Helper()
	text := fmt.Sprintf(`#!/bin/bash
set -eu
if [[ "${1:-}" == --config ]]; then
cat <<'EOF'
%s
EOF
exit
fi
source "$CRUD_SH"
ns=%s runs=%s
record="%s.$EPOCHREALTIME.$$"
{ echo "$HOOK_TASK_ID"; cat "$BINDING_CONTEXT_PATH"; } >"$runs/.$record"
mv "$runs/.$record" "$runs/$record"
%s
`, strings.ReplaceAll(config, "$NS", s.ns), s.ns, s.runs, name, body)
	if err := os.WriteFile(filepath.Join(s.hooks, name), []byte(text), 0o700); err != nil {
		s.Fatal(err)
	}
}

// load loads the executables.
func (s *scene) load(options hook.Options) []*hook.Hook {
	s.Helper()
	hooks, err := hook.Load(s.Context(), s.hooks, options)
	if err != nil {
		s.Fatal(err)
	}
	return hooks
}

// recorded is a run of an executable.
type recorded struct {
	task     string
	contexts []map[string]any
}

// recordedOf returns the runs of an executable in order.
func (s *scene) recordedOf(name string) (all []recorded) {
	s.Helper()
	paths, err := filepath.Glob(filepath.Join(s.runs, name+".*")) // sorted, by their time
	if err != nil {
		s.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			s.Fatal(err)
		}
		task, text, _ := strings.Cut(string(content), "\n")
		r := recorded{task: task}
		if err := json.Unmarshal([]byte(text), &r.contexts); err != nil {
			s.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// awaitRuns waits until an executable has run a number of times.
func (s *scene) awaitRuns(name string, n int) (all []recorded) {
	s.Helper()
	harness.Eventually(s, fmt.Sprintf("hook %s has run %d times", name, n), func(context.Context) error {
		if all = s.recordedOf(name); len(all) < n {
			return fmt.Errorf("it has run %d times", len(all))
		}
		return nil
	})
	return all
}
