/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// runsUntilStopped runs the controller of an observer, and returns the queue, what ends the process, and whether the controller has ended since.
func runsUntilStopped(t *testing.T, handler Handler[*partial], options ...Options[*partial]) (q *queue[*partial], stop func(), ended func() bool, lost func() int) {
	t.Helper()
	core, logs := zapobserver.New(zap.WarnLevel)
	ctx, stop := context.WithCancel(logging.WithLogger(context.Background(), zap.New(core).Sugar()))
	impl, q := controllerOf(ctx, observerOf(ctx, t, "it", handler, options...).definitionOf)
	q.objects = cache.NewStore(cache.MetaNamespaceKeyFunc)
	var hasEnded atomic.Bool
	go func() {
		_ = controller.StartAll(ctx, impl)
		hasEnded.Store(true)
	}()
	synctest.Wait()
	return q, stop, hasEnded.Load, func() (objects int) {
		for _, entry := range logs.FilterMessage("An observer ends before it has received all events").All() {
			objects += int(entry.ContextMap()["objects"].(int64))
		}
		return objects
	}
}

func TestShutdown_EventsArePending_ControllerEndsOnceTheyAreDelivered(t *testing.T) {
	for name, scope := range map[string]Scope{"LeaderOnly": LeaderOnly, "EveryReplica": EveryReplica} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const objects = 40
				var received atomic.Int32
				q, stop, ended, lost := runsUntilStopped(t, func(context.Context, Event[*partial]) error {
					pass(100 * time.Millisecond)
					received.Add(1)
					return nil
				}, Options[*partial]{Scope: scope})
				for i := range objects {
					q.OnAdd(object(i, 1), false)
				}
				stop()
				pass(2 * time.Second)
				if ended() || received.Load() == objects {
					t.Errorf("the controller has ended: %t, after %d events", ended(), received.Load())
				}
				pass(drainTimeout)
				if n := received.Load(); !ended() || n != objects || lost() != 0 {
					t.Errorf("the controller has ended: %t, after %d events, and %d are reported as lost; want all %d", ended(), n, lost(), objects)
				}
			})
		})
	}
}

func TestShutdown_CallIsStuck_ControllerEndsAndReportsIt(t *testing.T) {
	for name, wait := range map[string]func(ctx, released context.Context){
		"UntilItIsCanceled": func(ctx, _ context.Context) { <-ctx.Done() }, "Longer": func(_, released context.Context) { <-released.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				released, release := context.WithCancel(context.Background())
				defer release()
				q, stop, ended, lost := runsUntilStopped(t, func(ctx context.Context, _ Event[*partial]) error {
					wait(ctx, released)
					return ctx.Err()
				})
				if err := (leading[*partial]{q}).Promote(reconciler.UniversalBucket(), nil); err != nil {
					t.Fatal(err)
				}
				for i := range 3 {
					q.OnAdd(object(i, 1), false)
				}
				synctest.Wait()
				stop()
				pass(drainTimeout + 2*stuckTimeout)
				if !ended() || lost() != 3 {
					t.Errorf("the controller has ended: %t, and %d objects are reported as lost, want 3", ended(), lost())
				}
			})
		})
	}
}

// A process with an orderly stop, such as that of package hardening, ends its context once no reconciliation is running.
func TestShutdown_EventsArePending_AReconciliationIsRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received, running := 0, 0
		ctx := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
		impl, q := controllerOf(ctx, observerOf(ctx, t, "it", func(context.Context, Event[*partial]) error {
			pass(time.Second)
			received++
			return nil
		}, Options[*partial]{Scope: EveryReplica}).definitionOf)
		defer q.stop()
		impl.Reconciler = counted{impl.Reconciler, &running}
		running = 0
		stopping, stop := context.WithCancel(ctx)
		go func() { _ = controller.StartAll(stopping, impl) }()
		for i := range 5 {
			q.OnAdd(object(i, 1), false)
		}
		for received < 5 {
			synctest.Wait()
			if running != 1 {
				t.Fatalf("%d reconciliations are running after %d of 5 events", running, received)
			}
			pass(time.Second)
			synctest.Wait()
		}
		if running != 0 {
			t.Errorf("%d reconciliations are running although nothing is pending", running)
		}
		stop()
		pass(time.Second)
	})
}

// counted counts the reconciliations that are running.
type counted struct {
	controller.Reconciler

	running *int
}

func (c counted) Reconcile(ctx context.Context, key string) error {
	*c.running++
	defer func() { *c.running-- }()
	return c.Reconciler.Reconcile(ctx, key)
}

// The next leader receives the objects that the previous one had not received, but no deletions.
func TestShutdown_ReplicaCeasesToLead_ReportsWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, stop, _, lost := runsUntilStopped(t, func(context.Context, Event[*partial]) error {
			pass(time.Second)
			return nil
		})
		q.OnAdd(object(1, 1), false)
		synctest.Wait()
		q.OnAdd(object(2, 1), false)
		leading[*partial]{q}.Demote(reconciler.UniversalBucket())
		pass(time.Minute)
		if lost() != 1 || len(q.records) != 0 {
			t.Errorf("%d objects are reported as lost, want the one that waits; %d records are left", lost(), len(q.records))
		}
		stop()
		pass(time.Minute)
	})
}

func TestSubscription_CallIsRunning_StopWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := newProcess(t)
		server := newAPIServer()
		server.write("a")
		server.write("b")
		var calls atomic.Int32
		release := make(chan struct{})
		s, err := Subscribe(ctx, "it", ofSecrets(server), func(context.Context, Event[*corev1.Secret]) error {
			calls.Add(1)
			<-release
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Stop(limited); err == nil || !strings.Contains(err.Error(), "1 calls are still running") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the call and the deadline", err)
		}
		close(release)
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("got %v after the call, want no error", err)
		}
		server.write("c")
		synctest.Wait()
		if n := calls.Load(); n != 1 {
			t.Errorf("the observer was called %d times, want not after Stop", n)
		}
	})
}
