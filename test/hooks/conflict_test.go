/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
func TestConflict_ObjectChangedSince_HookRunsOnceMoreWithTheNewState(t *testing.T) {
	for name, delay := range map[string]time.Duration{"T30": 0, "T31": time.Second} {
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

// T30 for an executable: the resourceVersion of the binding context is that of the operation.
func TestConflict_Executable_RunsAgain(t *testing.T) {
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

// T31: the object changes each time.
func TestConflict_AgainAndAgain_IsOneFailure(t *testing.T) {
	s := newScene(t)
	s.create("it", "0", it)
	h, _ := s.decides("decides", true, func(run int64) {
		if run <= 4 {
			s.patch("it", fmt.Sprintf(`{"metadata": {"annotations": {"run": "%d"}}}`, run))
		}
	})
	s.start(s.quick(), h)
	s.awaitData("it", "value", "0+hook") // the failure is dropped, and the hook receives the last change
	expectMeasured(t, 1, "hook.run.errors", s.ns+"-decides")
	expectMeasured(t, 4, "hook.run.conflicts", s.ns+"-decides")
}

const finalizer = "hooks.example.com/hold"

// T14: a plan whose object is being deleted goes on once it is deleted; another hook of the queue runs meanwhile.
func TestDeletion_FinalizerHoldsTheObject_DelaysThePlanAlone(t *testing.T) {
	s := newScene(t)
	held := s.create("held", "old", nil)
	s.patch("held", `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
	ref := crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "held"}
	desired := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}, Data: map[string]string{"value": "new"}}
	}
	var j journal
	replaces := s.hook("replaces", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}, func(_ context.Context, run *hook.Run) error {
		j.addf("replaces")
		if len(j.all()) == 1 {
			run.Add(crud.EnsureDeletedInBackground(ref), crud.CreateOrUpdate(desired("held")), crud.CreateOrUpdate(desired("after")))
			run.Plan.SkipPreflight = true
		}
		return nil
	})
	other := s.hook("other", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}, func(context.Context, *hook.Run) error { return nil })
	s.start(s.quick(), replaces, other)
	harness.Eventually(t, "the object is being deleted", func(ctx context.Context) error {
		cm, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(ctx, "held", metav1.GetOptions{})
		if err == nil && cm.DeletionTimestamp == nil {
			err = errors.New("it is not")
		}
		return err
	})
	expectMeasured(t, 1, "hook.runs", s.ns+"-replaces", "result", "terminating")
	s.create("meanwhile", "1", it)
	expectMeasured(t, 2, "hook.runs", s.ns+"-other", "result", "success")
	if n := counted(t, "hook.runs", s.ns+"-replaces"); n != 1 {
		t.Errorf("the hook whose plan waits has run %d times, want 1", n)
	}
	if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Patch(t.Context(), "held", types.JSONPatchType,
		[]byte(`[{"op": "remove", "path": "/metadata/finalizers"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitData("after", "value", "new")
	s.awaitData("held", "value", "new")
	cm, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "held", metav1.GetOptions{})
	if err != nil || cm.UID == held.UID {
		t.Errorf("the object is the old one: %v", err)
	}
	expectMeasured(t, 0, "hook.run.errors", s.ns+"-replaces")
	expectMeasured(t, 2, "hook.runs", s.ns+"-replaces")
}

// T14: nothing waits for a deletion that finalizers delay, and it never deletes a later object of the same name.
func TestDeletion_FinalizerDelaysIt_NothingWaits(t *testing.T) {
	s := newScene(t)
	s.create("held", "old", it)
	s.patch("held", `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
	var j journal
	deletes := s.hook("deletes", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.ExecuteHookOnEvent = []hook.WatchEvent{hook.Added} })}},
		func(_ context.Context, run *hook.Run) error {
			j.addf("deletes %s", describe(run.Contexts))
			if len(j.all()) == 1 {
				run.Add(crud.EnsureDeletedInBackground(crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "held"}))
			} else if run.Previous == nil || len(run.Previous.Operations) != 1 || run.Previous.Operations[0].Outcome != crud.Deleting {
				report, _ := json.Marshal(run.Previous)
				t.Errorf("the results of the run before are %s", report)
			}
			return nil
		})
	s.start(s.quick(), deletes)
	j.await(t, "deletes kubernetes Synchronization held=old")
	s.create("next", "1", it)
	j.await(t, "deletes kubernetes Synchronization held=old", "deletes kubernetes EventAdded next=1")
	s.patch("held", `{"metadata": {"finalizers": null}}`)
	s.create("held", "new", nil)
	harness.Eventually(t, "the deletion is complete", func(context.Context) error {
		if s.logs.FilterMessage("A deletion is complete").Len() == 0 {
			return errors.New("it is not")
		}
		return nil
	})
	s.awaitData("held", "value", "new")
	expectMeasured(t, 0, "hook.run.errors", s.ns+"-deletes")
}

// 3: what is wrong with bindings is reported with the hook and the field, for executables, too.
func TestLoad_WrongBindings_NamesFileAndField(t *testing.T) {
	s := newScene(t)
	s.script("typo", "configVersion: v1\nkubernetes: [{kindd: Pod}]", "")
	s.script("admission", "configVersion: v1\nkubernetesValidating: [{name: a}]", "")
	s.script("cron", "configVersion: v1\nschedule: [{crontab: '* *'}]", "")
	_, err := hook.Load(t.Context(), s.hooks, s.quick())
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, want := range []string{
		"typo: its bindings: kubernetes[0].kindd: the field does not exist: did you mean kind?",
		"admission: its bindings: kubernetesValidating: hooks cannot answer reviews of admission or conversion yet",
		"cron: its bindings: schedule[0].crontab: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}
