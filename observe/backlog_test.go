/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

const workers = 8

// recorder is a reconciler that takes 5 ms for each key, and notes the order.
type recorder struct {
	backlog *backlog

	mu   sync.Mutex
	keys []string
}

func (r *recorder) Reconcile(_ context.Context, key string) error {
	defer r.backlog.Feed()
	r.mu.Lock()
	r.keys = append(r.keys, key)
	r.mu.Unlock()
	pass(5 * time.Millisecond)
	return nil
}

func (r *recorder) reconciled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.keys)
}

func newRecorder(t *testing.T) (*recorder, *controller.Impl) {
	t.Helper()
	r := &recorder{}
	impl := controller.NewContext(t.Context(), r, controller.ControllerOptions{
		WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar(), Concurrency: workers,
	})
	r.backlog = backlogOf(impl)
	return r, impl
}

// run runs the workers until the test ends.
func run(t *testing.T, impl *controller.Impl) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- impl.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// positionOfUrgent returns the number of keys that are reconciled before an urgent one that comes 100 ms after 2,000 others.
func positionOfUrgent(t *testing.T, add func(*recorder, *controller.Impl, types.NamespacedName)) (position int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, impl := newRecorder(t)
		run(t, impl)
		for i := range 2000 {
			add(r, impl, named(strconv.Itoa(i)))
		}
		pass(100 * time.Millisecond)
		synctest.Wait()
		before := len(r.reconciled())
		impl.EnqueueKey(named("urgent"))
		pass(time.Minute)
		keys := r.reconciled()
		if len(keys) != 2001 {
			t.Errorf("%d keys were reconciled, want 2001", len(keys))
		}
		position = slices.Index(keys, "ns/urgent") - before
	})
	return position
}

func TestBacklog_UrgentKey_OvertakesTheOthers(t *testing.T) {
	position := positionOfUrgent(t, func(r *recorder, _ *controller.Impl, key types.NamespacedName) { r.backlog.Add(key) })
	if position < 0 || position > 2*workers {
		t.Errorf("%d keys are reconciled before the urgent one, want at most %d", position, 2*workers)
	}
}

// If this fails, the slow lane of knative.dev/pkg holds its keys back, and the backlog may be deleted.
func TestUpstreamSlowLane_UrgentKey_StillWaitsBehindAllOthers(t *testing.T) {
	for name, add := range map[string]func(*recorder, *controller.Impl, types.NamespacedName){
		"Resync": func(_ *recorder, impl *controller.Impl, key types.NamespacedName) { impl.EnqueueSlowKey(key) },
		"Promotion": func(_ *recorder, impl *controller.Impl, key types.NamespacedName) {
			impl.MaybeEnqueueBucketKey(reconciler.UniversalBucket(), key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if position := positionOfUrgent(t, add); position < 1000 {
				t.Errorf("%d keys are reconciled before the urgent one", position)
			}
		})
	}
}

func TestBacklog_KeyIsAddedAgain_IsReconciledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, impl := newRecorder(t)
		for i := range 100 {
			r.backlog.Add(named(strconv.Itoa(i)))
			r.backlog.Add(named(strconv.Itoa(99 - i)))
		}
		run(t, impl)
		pass(time.Minute)
		// A key that is in the queue may be added again. The queue does not count a key while one of its two goroutines holds it.
		if n, most := len(r.reconciled()), 100+workers+2; n < 100 || n > most || r.backlog.waiting.Len() != 0 {
			t.Errorf("%d keys were reconciled and %d wait, want 100 to %d and none", n, r.backlog.waiting.Len(), most)
		}
	})
}

func TestBacklog_Dropped_KeepsOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, impl := newRecorder(t)
		for i := range 100 {
			impl.EnqueueKey(named(fmt.Sprint("urgent", i)))
		}
		synctest.Wait()
		r.backlog.Add(named("lost"))
		r.backlog.Add(named("kept"))
		r.backlog.Drop(func(key types.NamespacedName) bool { return key.Name == "lost" })
		r.backlog.Add(named("kept"))
		run(t, impl)
		pass(time.Minute)
		keys := r.reconciled()
		if len(keys) != 101 || slices.Contains(keys, "ns/lost") || !slices.Contains(keys, "ns/kept") {
			t.Errorf("%d keys were reconciled, the last is %s", len(keys), keys[len(keys)-1])
		}
	})
}

func TestBacklog_QueueShutsDown_IsEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, impl := newRecorder(t)
		for i := range 100 {
			r.backlog.Add(named(strconv.Itoa(i)))
		}
		ctx, stop := context.WithCancel(context.Background())
		stop()
		if err := impl.RunContext(ctx, workers); err != nil {
			t.Error(err)
		}
		if r.backlog.waiting.Len() != 0 || len(r.reconciled()) > 2*workers {
			t.Errorf("%d keys wait, %d were reconciled", r.backlog.waiting.Len(), len(r.reconciled()))
		}
	})
}
