/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/controller"
)

type reconcileFunc func(ctx context.Context, key string) error

func (f reconcileFunc) Reconcile(ctx context.Context, key string) error { return f(ctx, key) }

func newController(t *testing.T, reconcile reconcileFunc) *controller.Impl {
	t.Helper()
	return controller.NewContext(t.Context(), reconcile, controller.ControllerOptions{WorkQueueName: kindOf(t), Logger: zap.NewNop().Sugar()})
}

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

// The clock of a bubble stands still while any goroutine works, so that every number below is exact.

func TestQueueMetrics_KnownLoad_AreCorrect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := attributes{"name": kindOf(t)}
		release := make(chan struct{})
		failures := 2
		impl := newController(t, func(_ context.Context, key string) error {
			switch key {
			case "ns/slow", "ns/slower":
				<-release
			case "ns/fails":
				if failures--; failures >= 0 {
					return errors.New("not yet")
				}
			}
			return nil
		})
		expect := func(metric string, want float64) {
			t.Helper()
			if got := measured(t, metric, name); got != want {
				t.Errorf("%s is %v, want %v", metric, got, want)
			}
		}

		// No worker runs yet: four objects wait, one of which was added twice.
		for _, key := range []string{"slow", "slow", "slower", "a", "fails"} {
			impl.EnqueueKey(named(key))
		}
		synctest.Wait()
		expect("kn.workqueue.depth", 4)
		expect("kn.workqueue.adds", 4)
		expect("kn.workqueue.retries", 0)
		expect("kn.workqueue.queue.duration", 0)

		time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- impl.RunContext(ctx, 3) }()
		synctest.Wait()
		// Two are stuck, one is done, one has failed and waits outside of the queue for its time.
		expect("kn.workqueue.depth", 0)
		expect("kn.workqueue.queue.duration", 4)
		expect("kn.workqueue.retries", 1)
		if sum := sumOf(t, "kn.workqueue.queue.duration", name); sum != 8 {
			t.Errorf("the four objects have waited %v s together, want 8", sum)
		}
		expect("kn.workqueue.process.duration", 2)

		time.Sleep(time.Second)     //nolint:forbidigo // the bubble's clock
		impl.EnqueueKey(named("a")) // one more reconciliation, which ends at once
		time.Sleep(9 * time.Second) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		// The first add, two retries, and the second add of a.
		expect("kn.workqueue.adds", 4+2+1)
		expect("kn.workqueue.retries", 2)
		expect("kn.workqueue.process.duration", 2+2+1)
		expect("kn.workqueue.unfinished_work", 20)
		expect("kn.workqueue.longest_running_processor", 10)

		close(release)
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		expect("kn.workqueue.unfinished_work", 0)
		expect("kn.workqueue.longest_running_processor", 0)
		expect("kn.workqueue.process.duration", 7)
		if sum := sumOf(t, "kn.workqueue.process.duration", name); sum != 20 {
			t.Errorf("all reconciliations took %v s together, want 20", sum)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		// Its goroutines end at the next tick.
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
	})
}

// When this fails knative.dev/pkg is fixed: remove queueProvider, which would give every second queue of a
// name the wrong metric.
func TestUpstream_Queues_RegisterTheWrongMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		impl := newController(t, nil)
		if _, hasAsked := queues.half.Load(impl.Name); hasAsked {
			t.Error("a queue requested the metric of unfinished work once")
		}
		impl.WorkQueue().ShutDown()
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
	})
}
