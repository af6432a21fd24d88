/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"knative.dev/pkg/controller"
)

func TestWorkQueue_KeyIsAddedDuringItsProcessing_IsReturnedOnceAfterwards(t *testing.T) {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	q.Add("a")
	if n := q.Len(); n != 1 {
		t.Errorf("%d keys wait, want 1", n)
	}
	key, _ := q.Get()
	q.Add(key)
	q.Add(key)
	if n := q.Len(); n != 0 {
		t.Errorf("%d keys wait during the processing, want 0", n)
	}
	q.Done(key)
	if n := q.Len(); n != 1 {
		t.Errorf("%d keys wait after the processing, want 1", n)
	}
}

func TestWorkQueue_ShutDown_ReturnsTheRestAndAcceptsNothing(t *testing.T) {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	q.ShutDown()
	q.Add("b")
	if key, ended := q.Get(); key != "a" || ended {
		t.Errorf("got %q, %t, want the key in the queue", key, ended)
	}
	if key, ended := q.Get(); !ended {
		t.Errorf("got %q, want the end", key)
	}
}

func TestWorkQueue_ShutDownWithDrain_WaitsForWhatIsBeingProcessed(t *testing.T) {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	key, _ := q.Get()
	drained := make(chan struct{})
	go func() {
		q.ShutDownWithDrain()
		close(drained)
	}()
	eventually(t, "the queue shuts down", q.ShuttingDown)
	select {
	case <-drained:
		t.Error("it returned during the processing")
	default:
	}
	q.Done(key)
	receive(t, drained, "the end of the processing")
}

// If this fails, the second lane of knative.dev/pkg holds keys back.
func TestUpstreamSlowLane_UrgentKey_StillWaitsBehindAllOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const others = 2000
		var order []string
		impl := controller.NewContext(t.Context(), reconcileFunc(func(key string) {
			order = append(order, key)
			time.Sleep(5 * time.Millisecond) //nolint:forbidigo // in a bubble of synctest
		}), controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar(), Concurrency: 1})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- impl.Run(ctx) }()
		for i := range others {
			impl.EnqueueSlowKey(types.NamespacedName{Name: strconv.Itoa(i)})
		}
		synctest.Wait()
		impl.EnqueueKey(types.NamespacedName{Name: "urgent"})
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble of synctest
		if position := slices.Index(order, "urgent"); position < others-10 {
			t.Errorf("the urgent key is at position %d of %d", position, len(order))
		}
		stop()
		must(t, <-ended)
	})
}

// reconcileFunc is a reconciler that never fails.
type reconcileFunc func(key string)

// Reconcile implements controller.Reconciler.
func (f reconcileFunc) Reconcile(_ context.Context, key string) error {
	f(key)
	return nil
}

func TestDelayingQueue_KeyIsAddedTwice_TheEarlierTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedDelayingQueue[string]()
		defer q.ShutDown()
		q.AddAfter("a", time.Hour)
		q.AddAfter("a", time.Minute)
		q.AddAfter("a", 2*time.Hour)
		if n := q.Len(); n != 0 {
			t.Errorf("%d keys wait before their time", n)
		}
		start := time.Now()
		key, _ := q.Get()
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("the key is returned after %v, want a minute", waited)
		}
		q.Done(key)
		time.Sleep(3 * time.Hour) //nolint:forbidigo // A bubble of synctest does not wait.
		if n := q.Len(); n != 0 {
			t.Errorf("%d keys wait afterwards, want none", n)
		}
	})
}

func TestRateLimiter_ByDefault_DoublesTheDelayOfAKeyAndBoundsTheRateOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		for _, want := range []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond} {
			if got := limiter.When("a"); got != want {
				t.Errorf("the delay is %v, want %v", got, want)
			}
		}
		for range 20 {
			limiter.When("a")
		}
		if got := limiter.When("a"); got != 1000*time.Second {
			t.Errorf("the longest delay is %v, want 1000 s", got)
		}
		limiter.Forget("a")
		if got := limiter.When("a"); got != 5*time.Millisecond {
			t.Errorf("after Forget the delay is %v", got)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // as above
		for i := range 100 {
			limiter.When(strconv.Itoa(i))
		}
		if got := limiter.When("last"); got != 100*time.Millisecond {
			t.Errorf("the delay after 100 keys at once is %v, want 100 ms", got)
		}
	})
}

func TestResourceVersions_OfOneResource_CanBeCompared(t *testing.T) {
	for want, versions := range map[int][2]string{-1: {"9", "10"}, 0: {"10", "10"}, 1: {"11", "9"}} {
		got, err := resourceversion.CompareResourceVersion(versions[0], versions[1])
		if err != nil || got != want {
			t.Errorf("comparing %q returns %d, %v, want %d", versions, got, err, want)
		}
	}
	if _, err := resourceversion.CompareResourceVersion("a", "9"); err == nil {
		t.Error("a version that is no number can be compared")
	}
}

func TestMutationCache_OwnWrite_IsReadUntilTheCacheIsNewer(t *testing.T) {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	listed, written, newer := it("a", "3"), it("a", "6"), it("a", "8")
	must(t, store.Add(&listed))
	mutations := cache.NewIntegerResourceVersionMutationCache(klog.Background(), store, store, time.Hour, false)
	read := func() string {
		obj, _, err := mutations.GetByKey("ns/a")
		must(t, err)
		return describe(obj.(*corev1.ConfigMap))
	}
	mutations.Mutation(&written)
	if got := read(); got != "a@6" {
		t.Errorf("after the write it reads %s", got)
	}
	must(t, store.Update(&newer))
	if got := read(); got != "a@8" {
		t.Errorf("after a later change it reads %s", got)
	}
}
