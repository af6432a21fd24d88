/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// waitingPlans is the number of hooks whose plans wait for one of the deletions.
const waitingPlans = 10

// delay counts the tasks that the worker of the queue took between an event and the run of its hook, and the requests that these sent.
type delay struct {
	taken, requests int
	lasted          time.Duration
}

func (d delay) String() string {
	return fmt.Sprintf("%d tasks, %d requests, %s", d.taken, d.requests, d.lasted)
}

// Between an event and the run of its hook, the queue does what an empty queue does, and continues at most one of the plans that wait.
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
	hooks := []*hook.Hook{s.hook("other", onEvent, func(_ context.Context, run *hook.Run) error {
		j.addf("%s", describe(run.Contexts))
		return nil
	}), s.hook("deletes", onBegin, func(_ context.Context, run *hook.Run) error {
		run.Add(deletions...)
		run.Plan.SkipPreflight = true
		return nil
	})}
	for i := range waitingPlans {
		hooks = append(hooks, s.hook(fmt.Sprint("waits-", i), onBegin, func(_ context.Context, run *hook.Run) error {
			run.Add(deletions[i], crud.CreateOrUpdate(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: deletions[i].Name}}))
			run.Plan.SkipPreflight = true
			return nil
		}))
	}
	requests := s.proxy.Count(func(r harness.Request) bool {
		return r.Namespace == s.ns && r.Resource == "configmaps" && r.Verb != "watch"
	})
	s.start(s.quick(), hooks...)
	lines := []string{"kubernetes Synchronization"}
	j.await(t, lines...)
	delayOf := func(name string) delay {
		began, taken, sent := time.Now(), s.logs.FilterMessage("Reconcile succeeded").Len(), requests()
		s.create(name, "1", it)
		lines = append(lines, "kubernetes EventAdded "+name+"=1")
		j.await(t, lines...)
		return delay{s.logs.FilterMessage("Reconcile succeeded").Len() - taken, requests() - sent, time.Since(began)}
	}
	// On a busy machine, the worker continues other plans until the process has received one event or another.
	usual := func(name string) delay {
		var all []delay
		for i := range 5 {
			all = append(all, delayOf(fmt.Sprint(name, "-", i)))
		}
		slices.SortFunc(all, func(a, b delay) int { return cmp.Compare(a.lasted, b.lasted) })
		lasted := all[len(all)/2].lasted
		slices.SortFunc(all, func(a, b delay) int { return cmp.Compare(a.taken, b.taken) })
		return delay{all[len(all)/2].taken, all[len(all)/2].requests, lasted}
	}
	empty := usual("empty")
	delayOf("begin")
	expectMeasured(t, 1, "hook.runs", s.ns+"-deletes", "result", "success")
	for i := range waitingPlans {
		expectMeasured(t, 1, "hook.runs", fmt.Sprint(s.ns, "-waits-", i), "result", "terminating")
	}
	held := usual("other")
	t.Logf("before the run of another hook: %s with an empty queue, and %s with %d deletions and %d plans that wait", empty, held, n, waitingPlans)
	// A continued plan sends two requests. Several tasks may be taken until the process has received the event.
	if held.taken > empty.taken+3 || held.requests > empty.requests+2*3 {
		t.Errorf("before the run: %s with %d deletions that finalizers delay and %d plans that wait, and %s without", held, n, waitingPlans, empty)
	}
}
