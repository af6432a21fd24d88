/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// 3: a failed run is repeated with the same task, before other runs of its hook. It delays no other hook, of the same queue or another.
func TestQueue_FailedRun_DelaysItsHookAlone(t *testing.T) {
	s := newScene(t)
	var j journal
	var failures atomic.Int64
	release := make(chan struct{})
	inQueue := func(queue string) hook.Kubernetes {
		return s.configMaps(func(k *hook.Kubernetes) { k.Queue = queue })
	}
	record := func(name string) func(context.Context, *hook.Run) error {
		return func(_ context.Context, run *hook.Run) error {
			j.addf("%s %s", name, describe(run.Contexts))
			return nil
		}
	}
	var tasks atomic.Value
	failing := s.hook("failing", hook.Bindings{Kubernetes: []hook.Kubernetes{inQueue("shared")}}, func(_ context.Context, run *hook.Run) error {
		if before, ok := tasks.Swap(run.Task).(string); ok && before != run.Task && failures.Load() < 3 {
			t.Errorf("a repetition has the task %s, and the run before had %s", run.Task, before)
		}
		if failures.Add(1) <= 3 {
			<-release
			j.addf("failed")
			return errors.New("it fails")
		}
		j.addf("failing %s", describe(run.Contexts))
		return nil
	})
	s.start(s.quick(), failing, s.hook("free", hook.Bindings{Kubernetes: []hook.Kubernetes{inQueue("free")}}, record("free")))
	j.await(t, "free kubernetes Synchronization")
	s.create("a", "1", it)
	j.await(t, "free kubernetes Synchronization", "free kubernetes EventAdded a=1")
	close(release)
	j.await(t, "free kubernetes Synchronization", "free kubernetes EventAdded a=1", "failed", "failed", "failed", "failing kubernetes Synchronization a=1")
	expectMeasured(t, 3, "hook.run.errors", s.ns+"-failing")
}

// Hooks that fail, or lose a conflict again and again, wait for as long as the test takes, and another one of their queue receives its events.
func TestQueue_HooksWaitToBeRepeated_OthersOfTheQueueRun(t *testing.T) {
	s := newScene(t)
	stale := s.create("stale", "1", nil)
	s.patch("stale", `{"data": {"value": "2"}}`)
	var j journal
	added := hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}
	hooks := []*hook.Hook{s.hook("z", added, func(_ context.Context, run *hook.Run) error {
		j.addf("%s", describe(run.Contexts))
		return nil
	})}
	for i := range 5 {
		fails := i%2 == 0
		hooks = append(hooks, s.hook(fmt.Sprint("a", i), added, func(_ context.Context, run *hook.Run) error {
			if fails {
				return errors.New("it fails")
			}
			run.Add(crud.FilterPatchOptimistic(stale, func(cm *corev1.ConfigMap) error {
				cm.Data["value"] = "3"
				return nil
			}))
			return nil
		}))
	}
	options := s.quick()
	options.RetryDelay, options.MaxRetryDelay, options.Conflicts = 2*harness.Deadline, 2*harness.Deadline, 1
	s.start(options, hooks...)
	for i := range 5 {
		expectMeasured(t, 1, "hook.run.errors", fmt.Sprint(s.ns, "-a", i))
	}
	j.await(t, "kubernetes Synchronization")
	s.create("x", "1", it)
	j.await(t, "kubernetes Synchronization", "kubernetes EventAdded x=1")
}

// 3: adjacent events of a hook are one run, and a binding that allows failures drops a run.
func TestQueue_AdjacentEvents_AreOneRun(t *testing.T) {
	s := newScene(t)
	var j journal
	begun, proceed := make(chan struct{}), make(chan struct{})
	var n atomic.Int64
	var seen atomic.Value
	s.start(s.quick(), s.hook("it", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.AllowFailure = true })}},
		func(_ context.Context, run *hook.Run) error {
			if n.Add(1) == 1 {
				close(begun)
				<-proceed
				return errors.New("it fails, and is not repeated")
			}
			// Between objects, there is no order.
			contexts := strings.Split(describe(run.Contexts), "; ")
			slices.Sort(contexts)
			j.addf("%s", strings.Join(contexts, "; "))
			return nil
		}), s.hook("witness", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.Queue = "witness" })}},
		func(_ context.Context, run *hook.Run) error {
			before, _ := seen.Load().(string)
			seen.Store(before + describe(run.Contexts) + "; ")
			return nil
		}))
	<-begun
	for i := range 3 {
		s.create(fmt.Sprint("cm", i), "1", it)
	}
	s.create("gone", "1", it)
	s.delete("gone")
	for i := range 3 {
		s.patch(fmt.Sprint("cm", i), `{"data": {"value": "2"}}`)
	}
	harness.Eventually(t, "all events have arrived", func(context.Context) error {
		all, _ := seen.Load().(string)
		for i := range 3 {
			if !strings.Contains(all, fmt.Sprintf("cm%d=2", i)) {
				return fmt.Errorf("they are %q", all)
			}
		}
		return nil
	})
	close(proceed)
	j.await(t, "kubernetes EventAdded cm0=2; kubernetes EventAdded cm1=2; kubernetes EventAdded cm2=2")
	if runs := n.Load(); runs != 2 {
		t.Errorf("the hook ran %d times, want 2", runs)
	}
}
