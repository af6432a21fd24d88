/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// 3 and 11: hooks of onStartup run in their order before other bindings begin, and runs that wait are counted.
func TestOnStartup_Hooks_RunInOrder(t *testing.T) {
	s := newScene(t)
	s.create("it", "1", it)
	var j journal
	proceed := make(chan struct{})
	record := func(name string, wait <-chan struct{}) func(context.Context, *hook.Run) error {
		return func(_ context.Context, run *hook.Run) error {
			<-wait
			j.addf("%s %s", name, describe(run.Contexts))
			return nil
		}
	}
	now := make(chan struct{})
	close(now)
	queued := s.configMaps(func(k *hook.Kubernetes) { k.Queue = s.ns })
	s.start(s.quick(),
		s.hook("late", hook.Bindings{OnStartup: new(20), Kubernetes: []hook.Kubernetes{queued}}, record("late", now)),
		s.hook("early", hook.Bindings{OnStartup: new(10)}, record("early", proceed)))
	harness.Eventually(t, "both runs are in the queue", func(context.Context) error {
		if n := queueLength(t, "main"); n != 2 {
			return fmt.Errorf("its length is %d", n)
		}
		return nil
	})
	close(proceed)
	j.await(t, "early onStartup", "late onStartup", "late kubernetes Synchronization it=1")
}

// 3: the shortest time between runs, of which some may follow one another at once.
func TestSettings_ExecutionMinInterval_DelaysRuns(t *testing.T) {
	const interval = 300 * time.Millisecond
	s := newScene(t)
	times := make(chan time.Time, 10)
	s.start(s.quick(), s.hook("slow", hook.Bindings{
		Kubernetes: []hook.Kubernetes{s.configMaps()},
		Settings:   hook.Settings{ExecutionMinInterval: metav1.Duration{Duration: interval}, ExecutionBurst: 2},
	}, func(context.Context, *hook.Run) error {
		times <- time.Now()
		return nil
	}))
	first := <-times
	var last time.Time
	for i := range 3 {
		s.create(fmt.Sprint("cm", i), "1", it)
		last = <-times
	}
	if took := last.Sub(first); took < 2*interval-interval/10 {
		t.Errorf("4 runs began within %v, want at least %v", took, 2*interval)
	}
}
