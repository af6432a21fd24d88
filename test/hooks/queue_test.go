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

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// 3: a failed run is repeated first, with the same task; others of the queue wait, and those of other queues do not.
func TestQueue_FailedRun_IsRepeatedBeforeOthersOfTheQueue(t *testing.T) {
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
