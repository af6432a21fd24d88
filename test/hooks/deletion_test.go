/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const finalizer = "hooks.example.com/hold"

// T14: a plan whose object is being deleted continues once it is deleted; another hook of the queue runs until then.
func TestDeletion_FinalizerHoldsTheObject_DelaysThePlanAlone(t *testing.T) {
	delayPlan(t, crud.EnsureDeletedInBackground)
}

// An operation that waits delays another hook of the queue by the run that it is part of, and not by the rest of its plan.
func TestDeletion_OperationWaits_DelaysAnotherHookByOneRun(t *testing.T) {
	delayPlan(t, func(ref crud.Ref) crud.Operation {
		op := crud.EnsureDeleted(ref)
		op.Wait = time.Second
		return op
	})
}

// delayPlan has a plan delete an object that a finalizer holds, and create it again.
func delayPlan(t *testing.T, deletion func(crud.Ref) crud.Operation) {
	t.Helper()
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
			run.Add(deletion(ref), crud.CreateOrUpdate(desired("held")), crud.CreateOrUpdate(desired("after")))
			run.Plan.SkipPreflight = true
		}
		return nil
	})
	var received journal
	other := s.hook("other", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}, func(_ context.Context, run *hook.Run) error {
		for object := range run.Objects() {
			received.addf("%s", object.GetName())
		}
		return nil
	})
	awaitReceived := func(name string) {
		t.Helper()
		harness.Eventually(t, "the other hook receives "+name, func(context.Context) error {
			if all := received.all(); !slices.Contains(all, name) {
				return fmt.Errorf("it has received %q", all)
			}
			return nil
		})
	}
	s.start(s.quick(), replaces, other)
	harness.Eventually(t, "the object is being deleted", func(ctx context.Context) error {
		cm, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(ctx, "held", metav1.GetOptions{})
		if err == nil && cm.DeletionTimestamp == nil {
			err = errors.New("it is not")
		}
		return err
	})
	s.create("between", "1", it) // an operation that waits still does
	awaitReceived("between")
	expectMeasured(t, 1, "hook.runs", s.ns+"-replaces", "result", "terminating")
	s.create("later", "1", it) // the rest of the plan waits
	awaitReceived("later")
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

// A plan that continues after a deletion is still the same plan: each operation keeps its place, so that none is executed twice, and none is taken
// for another one.
func TestDeletion_PlanContinues_ExecutesEachOperationOnce(t *testing.T) {
	for name, repeats := range map[string]bool{"succeeds": false, "fails once and is repeated": true} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.create("held", "old", nil)
			s.patch("held", `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
			ref := crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "held"}
			generated := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, GenerateName: "job-", Labels: map[string]string{"job": ""}}}
			held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "held"}, Data: map[string]string{"value": "new"}}
			if repeats {
				s.proxy.FailOnce(harness.Matching("patch", "configmaps").And(harness.InNamespace(s.ns)), http.StatusUnprocessableEntity)
			}
			bindings := hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}
			s.start(s.quick(), s.hook("replaces", bindings, func(_ context.Context, run *hook.Run) error {
				run.Add(crud.EnsureDeletedInBackground(ref), crud.Create(generated), crud.CreateOrUpdate(held), crud.Create(generated),
					crud.MergePatch(ref, `{"data":{"patched":"1"}}`))
				run.Plan.SkipPreflight = true
				return nil
			}))
			expectMeasured(t, 1, "hook.runs", s.ns+"-replaces", "result", "terminating")
			s.patch("held", `{"metadata": {"finalizers": null}}`)
			s.awaitData("held", "patched", "1")
			jobs, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "job"})
			if err != nil || len(jobs.Items) != 2 {
				t.Errorf("two operations created %d objects: %v", len(jobs.Items), err)
			}
			if repeats {
				expectMeasured(t, 1, "hook.run.errors", s.ns+"-replaces")
				s.awaitLog("A hook failed", "operation 5: MergePatch ConfigMap "+s.ns+"/held") // its number in the whole plan
			}
		})
	}
}

// T14: nothing waits for a deletion that finalizers delay, and a later object of the same name stays.
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
			}
			return nil
		})
	s.start(s.quick(), deletes)
	j.await(t, "deletes kubernetes Synchronization held=old")
	s.create("next", "1", it)
	j.await(t, "deletes kubernetes Synchronization held=old", "deletes kubernetes EventAdded next=1")
	s.patch("held", `{"metadata": {"finalizers": null}}`)
	s.create("held", "new", nil)
	s.awaitData("held", "value", "new")
	expectMeasured(t, 0, "hook.run.errors", s.ns+"-deletes")
}

// T14: at its deadline, a plan that waits for a deletion is a failure.
func TestDeletion_FinalizerIsNeverRemoved_EndsAtTheDeadline(t *testing.T) {
	s := newScene(t)
	s.create("held", "old", it)
	s.patch("held", `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
	t.Cleanup(func() { s.patch("held", `{"metadata": {"finalizers": null}}`) })
	ref := crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "held"}
	once := hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) {
		k.AllowFailure, k.ExecuteHookOnEvent = true, []hook.WatchEvent{}
	})}}
	replaces := s.hook("replaces", once, func(_ context.Context, run *hook.Run) error {
		run.Add(crud.EnsureDeleted(ref), crud.CreateOrUpdate(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "held"}}))
		run.Plan.SkipPreflight = true
		return nil
	})
	options := s.quick()
	options.Deletions = 500 * time.Millisecond
	s.start(options, replaces)
	expectMeasured(t, 1, "hook.runs", s.ns+"-replaces", "result", "terminating")
	expectMeasured(t, 1, "hook.run.errors", s.ns+"-replaces")
	s.awaitLog("A hook failed, which its binding allows", "Terminating: the object is being deleted: it waits for the finalizers "+finalizer)
}

// awaitLog waits until the log has a message with a text.
func (s *scene) awaitLog(message, text string) {
	s.Helper()
	harness.Eventually(s, "the log has: "+message, func(context.Context) error {
		for _, entry := range s.logs.FilterMessage(message).All() {
			if strings.Contains(fmt.Sprint(entry.ContextMap()), text) {
				return nil
			}
		}
		return errors.New("it has not: " + text)
	})
}
