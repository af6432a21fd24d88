/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
)

// Between an event and the run of its hook, the queue does what an empty queue does.
func TestDeletions_FinalizersHoldMany_TheQueueIsAsAnEmptyOne(t *testing.T) { holdDeletions(t, 200) }

func holdDeletions(t *testing.T, n int) {
	t.Helper()
	s := newScene(t)
	objects := s.env.Kube.CoreV1().ConfigMaps(s.ns)
	var deletions []crud.Operation
	for i := range n {
		name := fmt.Sprint("held-", i)
		if _, err := objects.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{finalizer}}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		deletions = append(deletions, crud.EnsureDeletedInBackground(crud.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.ns, Name: name}))
	}
	t.Cleanup(func() {
		for _, op := range deletions {
			s.patch(op.Name, `{"metadata": {"finalizers": null}}`)
		}
	})
	var j journal
	onEvent := hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.ExecuteHookOnEvent = []hook.WatchEvent{hook.Added} })}}
	onBegin := hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) {
		k.NameSelector, k.ExecuteHookOnSynchronization = &hook.NameSelector{MatchNames: []string{"begin"}}, new(false)
	})}}
	s.start(s.quick(), s.hook("other", onEvent, func(_ context.Context, run *hook.Run) error {
		j.addf("%s", describe(run.Contexts))
		return nil
	}), s.hook("deletes", onBegin, func(_ context.Context, run *hook.Run) error {
		run.Add(deletions...)
		run.Plan.SkipPreflight = true
		return nil
	}))
	lines := []string{"kubernetes Synchronization"}
	j.await(t, lines...)
	// others is the number of things that workers of queues did between an event and the run of its hook.
	others := func(name string) int {
		before := s.logs.FilterMessage("Reconcile succeeded").Len()
		s.create(name, "1", it)
		lines = append(lines, "kubernetes EventAdded "+name+"=1")
		j.await(t, lines...)
		return s.logs.FilterMessage("Reconcile succeeded").Len() - before
	}
	empty, held := 0, 0
	for i := range 5 {
		empty = max(empty, others(fmt.Sprint("empty-", i)))
	}
	others("begin")
	expectMeasured(t, 1, "hook.runs", s.ns+"-deletes", "result", "success")
	for i := range 5 {
		held = max(held, others(fmt.Sprint("held-", i, "-other")))
	}
	t.Logf("before the run of another hook, the worker of the queue did up to %d things with an empty queue, and %d with %d deletions", empty, held, n)
	if held > empty+3 {
		t.Errorf("it did up to %d things with %d deletions that finalizers delay, and %d without", held, n, empty)
	}
}
