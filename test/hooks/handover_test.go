//go:build nightly

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

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// replicas starts an environment with two processes of cmd/hooks, hooks and hooks-1, which have not started yet, and their scene. They may read
// its ConfigMaps.
func replicas(t *testing.T) *scene {
	t.Helper()
	data := t.TempDir()
	var options []harness.Option
	for _, process := range []string{"hooks", "hooks-1"} {
		options = append(options, harness.Without(process), harness.WithProxy(process), harness.WithEnv(process, "KO_DATA_PATH", data))
	}
	options = append(options, harness.WithOverlay("hooks"), harness.WithReplicas("hooks", 2))
	env := harness.Own(t, append(options, harness.Without("controller"), harness.WithoutWebhooks("webhook"))...)
	s := &scene{T: t, env: env, ns: env.Namespace(t), hooks: filepath.Join(data, "hooks"), runs: t.TempDir()}
	if err := os.Mkdir(s.hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	env.Apply(t, s.ns, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: hooks}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hooks}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: hooks}
subjects: [{kind: ServiceAccount, name: hooks, namespace: `+env.SystemNamespace+`}]
`)
	return s
}

// A process that receives SIGTERM keeps its lease until its run has ended. Then the other one leads, and runs onStartup again. Changes since then are
// in its first binding contexts.
func TestHandover_LeaderStops_OneReplicaAtATimeHandlesEachEvent(t *testing.T) {
	s := replicas(t)
	s.script("it", "configVersion: v1\nonStartup: 1\nkubernetes:\n- kind: ConfigMap"+selected, `
echo "begin $POD_NAME" >>"$runs/journal"
if [[ $(crud::context '.[0].binding') == onStartup ]]; then
  until [[ -e "$runs/proceed" ]]; do sleep 0.02; done
fi
echo "end $POD_NAME" >>"$runs/journal"
`)
	leader, standby := s.env.Process(t, "hooks"), s.env.Process(t, "hooks-1")
	leader.Start(t)
	s.awaitRuns("it", 1)
	standby.Start(t)
	s.create("before", "1", it)
	s.awaitLooks("hooks-1")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		leader.Stop(t)
	}()
	s.create("during", "1", it)
	s.awaitLooks("hooks-1")
	if diff := cmp.Diff([]string{"begin hooks-0"}, s.journal()); diff != "" {
		t.Errorf("before the run of the leader has ended (-want, +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(s.runs, "proceed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-stopped
	s.create("after", "1", it)
	s.awaitHandled("before", "during", "after")

	// The first process leads again, while objects are created.
	leader.Start(t)
	s.awaitLooks("hooks")
	stopped = make(chan struct{})
	go func() {
		defer close(stopped)
		standby.Stop(t)
	}()
	var created []string
	harness.Eventually(t, "the first process runs the hook", func(context.Context) error {
		name := fmt.Sprintf("more-%03d", len(created))
		s.create(name, "1", it)
		created = append(created, name)
		if lines := s.journal(); !strings.HasSuffix(lines[len(lines)-1], "hooks-0") {
			return errors.New("the last line is " + lines[len(lines)-1])
		}
		return nil
	})
	<-stopped
	s.awaitHandled(created...)
	lines := s.journal()
	for run := range slices.Chunk(lines[:len(lines)/2*2], 2) { // the last one might not have ended
		if replica := strings.TrimPrefix(run[0], "begin "); run[0] == replica || run[1] != "end "+replica {
			t.Errorf("%q was followed by %q", run[0], run[1])
		}
	}
}

// awaitLooks waits until a process that does not lead has read the leases several times.
func (s *scene) awaitLooks(process string) {
	s.Helper()
	looks := s.env.Proxy(s.T, process).Count(harness.Matching("get", "leases"))
	harness.Eventually(s, process+" has read the leases", func(context.Context) error {
		if n := looks(); n < 3 {
			return fmt.Errorf("it has done so %d times", n)
		}
		return nil
	})
}

// journal returns the lines that the runs have written.
func (s *scene) journal() []string {
	s.Helper()
	content, err := os.ReadFile(filepath.Join(s.runs, "journal"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// awaitHandled waits until the hook has received objects.
func (s *scene) awaitHandled(names ...string) {
	s.Helper()
	harness.Eventually(s, "the hook has received the objects", func(context.Context) error {
		var handled strings.Builder
		for _, run := range s.recordedOf("it") {
			fmt.Fprintln(&handled, short(run.contexts))
		}
		for _, name := range names {
			if !strings.Contains(handled.String(), name) {
				return errors.New("it lacks " + name)
			}
		}
		return nil
	})
}
