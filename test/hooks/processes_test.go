/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// isAlive reports whether a process runs.
func isAlive(pid string) bool {
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}

// awaitDead waits until the processes whose IDs are in a file do not run.
func (s *scene) awaitDead(file string, want int) {
	s.Helper()
	harness.Eventually(s, "the processes of "+file+" are dead", func(context.Context) error {
		content, err := os.ReadFile(filepath.Join(s.runs, file))
		pids := strings.Fields(string(content))
		if err == nil && len(pids) != want {
			err = fmt.Errorf("there are %d, want %d", len(pids), want)
		}
		if i := slices.IndexFunc(pids, isAlive); err == nil && i >= 0 {
			err = errors.New(pids[i] + " runs")
		}
		return err
	})
}

const startup = "configVersion: v1\nonStartup: 1\n"

// 8: at the end of the process the run under way may end, its operations are executed, and nothing else begins.
func TestExecutable_Shutdown_FinishesTheRunOrEndsIt(t *testing.T) {
	for name, grace := range map[string]time.Duration{"finishes": harness.Deadline, "ends": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.script("first", startup, `
echo $$ >"$runs/pids"
while [[ ! -e "$runs/proceed" ]]; do sleep 0.02; done
crud::create_or_update --arg ns="$ns" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "done"}, data: {value: "yes"}}'
`)
			s.script("second", startup, "")
			options := s.quick()
			options.Grace = grace
			s.start(options, s.load(options)...)
			s.awaitRuns("first", 1)
			s.end()
			if name == "finishes" {
				if err := os.WriteFile(filepath.Join(s.runs, "proceed"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			<-s.ended
			if name == "finishes" {
				s.awaitData("done", "value", "yes")
			}
			s.awaitDead("pids", 1)
			if n := len(s.recordedOf("second")); n != 0 {
				t.Errorf("another hook ran %d times", n)
			}
		})
	}
}
