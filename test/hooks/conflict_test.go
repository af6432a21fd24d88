/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// decides returns a hook that adds to the number in a ConfigMap by an optimistic patch of the state that it received. before runs between.
func (s *scene) decides(name string, allowFailure bool, before func(run int64)) (h *hook.Hook, runs *atomic.Int64) {
	runs = &atomic.Int64{}
	binding := s.configMaps(func(k *hook.Kubernetes) { k.AllowFailure = allowFailure })
	return s.hook(name, hook.Bindings{Kubernetes: []hook.Kubernetes{binding}}, func(_ context.Context, run *hook.Run) error {
		n := runs.Add(1)
		for _, c := range run.Contexts {
			for _, o := range append(c.Objects, c.Snapshot) {
				if o.Object == nil || c.WatchEvent == hook.Deleted {
					continue
				}
				before(n)
				run.Add(crud.FilterPatchOptimistic(o.Object, func(u *unstructured.Unstructured) error {
					value, _, _ := unstructured.NestedString(u.Object, "data", "value")
					return unstructured.SetNestedField(u.Object, value+"+hook", "data", "value")
				}))
			}
		}
		return nil
	}), runs
}

// T30 and T31: the object changes after the hook has received it, and the cache learns of that at once, or late.
func TestT30_Conflict_ObjectChangedSince_HookRunsOnceMoreWithTheNewState(t *testing.T) {
	for name, delay := range map[string]time.Duration{"T30": 0, "T31": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.create("it", "0", it)
			h, runs := s.decides("decides", false, func(run int64) {
				if run == 1 {
					s.patch("it", `{"data": {"value": "1"}}`)
				}
			})
			if delay > 0 {
				s.proxy.DelayWatches(harness.Matching("watch", "configmaps").And(harness.InNamespace(s.ns)), delay)
			}
			options := s.quick()
			options.RetryDelay = time.Hour // a failure would end the test
			s.start(options, h)
			s.awaitData("it", "value", "1+hook")
			expectMeasured(t, 1, "hook.runs", s.ns+"-decides", "result", "success")
			// Its own write, and the change that it has received, do not run it again.
			s.create("last", "0", it)
			s.awaitData("last", "value", "0+hook")
			if n := runs.Load(); n != 3 {
				t.Errorf("the hook ran %d times for two objects, want 2 for the first and 1 for the second", n)
			}
			expectMeasured(t, 1, "hook.run.conflicts", s.ns+"-decides", "binding", "kubernetes", "queue", "main")
			expectMeasured(t, 0, "hook.run.errors", s.ns+"-decides")
		})
	}
}

// The resourceVersion of the binding context is that of the operation.
func TestT30_Conflict_Executable_RunsAgain(t *testing.T) {
	s := newScene(t)
	s.create("it", "0", it)
	s.script("decides-in-shell", "configVersion: v1\nkubernetes:\n- kind: ConfigMap"+selected, `
while [[ ! -e "$runs/proceed" ]]; do sleep 0.02; done
crud::objects >"$TMPDIR/objects"
while read -r object; do
  version=$(crud::context '.[0] | (.objects[0]?.object // .object).metadata.resourceVersion')
  value=$(crud::context '.[0] | (.objects[0]?.object // .object).data.value')
  crud::merge_patch -n "$ns" --resource-version "$version" --arg value="$value+hook" ConfigMap it '{data: {value: $value}}'
done <"$TMPDIR/objects"
`)
	options := s.quick()
	options.RetryDelay = time.Hour // a failure would end the test
	s.start(options, s.load(options)...)
	s.awaitRuns("decides-in-shell", 1)
	s.patch("it", `{"data": {"value": "1"}}`)
	if err := os.WriteFile(filepath.Join(s.runs, "proceed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.awaitData("it", "value", "1+hook")
	runs := s.recordedOf("decides-in-shell")
	if len(runs) != 2 || runs[0].task != runs[1].task {
		t.Errorf("there are %d runs, want 2 of one task: %v", len(runs), runs)
	}
	expectMeasured(t, 1, "hook.run.conflicts", "decides-in-shell")
	expectMeasured(t, 0, "hook.run.errors", "decides-in-shell")
}

// Six conflicts in succession would be a failure with the settings of the other tests.
func TestConflict_DeclaredNeverToBeAFailure_RunsUntilItSucceeds(t *testing.T) {
	s := newScene(t)
	s.create("it", "0", it)
	h, runs := s.decides("decides", false, func(run int64) {
		if run <= 6 {
			s.patch("it", fmt.Sprintf(`{"data": {"value": "%d"}}`, run))
		}
	})
	options := s.quick()
	options.RetryDelay = time.Hour // a failure would end the test
	options.Conflicts, options.MetricPrefix = -1, "shop_"
	s.start(options, h)
	s.awaitData("it", "value", "6+hook")
	expectMeasured(t, 1, "shop_hook.runs", s.ns+"-decides", "result", "success")
	expectMeasured(t, 6, "shop_hook.run.conflicts", s.ns+"-decides")
	expectMeasured(t, 0, "shop_hook.run.errors", s.ns+"-decides")
	expectMeasured(t, 0, "hook.run.conflicts", s.ns+"-decides")
	if n := runs.Load(); n != 7 {
		t.Errorf("the hook ran %d times, want 7", n)
	}
}

// The object is deleted after the hook has received it. The API server answers that it does not exist, which is a change like others.
func TestConflict_ObjectDeletedSince_HookRunsOnceMoreWithoutIt(t *testing.T) {
	for name, optimistic := range map[string]func(*unstructured.Unstructured) crud.Operation{
		"filter": func(u *unstructured.Unstructured) crud.Operation {
			return crud.FilterPatchOptimistic(u, func(u *unstructured.Unstructured) error {
				return unstructured.SetNestedField(u.Object, "hook", "data", "value")
			})
		},
		"precondition": func(u *unstructured.Unstructured) crud.Operation {
			op := crud.MergePatch(crud.Ref{Kind: "ConfigMap", Namespace: u.GetNamespace(), Name: u.GetName()}, `{"data": {"value": "hook"}}`)
			op.Preconditions.ResourceVersion = new(u.GetResourceVersion())
			return op
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.create("it", "0", it)
			var j journal
			h := s.hook(name, hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}, func(_ context.Context, run *hook.Run) error {
				j.addf("%s", describe(run.Contexts))
				for _, o := range run.Contexts[0].Objects {
					s.delete("it")
					run.Add(optimistic(o.Object))
					run.Plan.SkipPreflight = true // the operation itself finds that the object is deleted
				}
				return nil
			})
			options := s.quick()
			options.RetryDelay = time.Hour // a failure would end the test
			s.start(options, h)
			j.await(t, "kubernetes Synchronization it=0", "kubernetes Synchronization")
			expectMeasured(t, 1, "hook.runs", s.ns+"-"+name, "result", "success")
			expectMeasured(t, 1, "hook.run.conflicts", s.ns+"-"+name)
			expectMeasured(t, 0, "hook.run.errors", s.ns+"-"+name)
		})
	}
}
