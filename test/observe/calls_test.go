/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

// load creates objects and then changes each of them, from several goroutines.
func (s *scene) load(t *testing.T, objects, changes int) {
	t.Helper()
	if err := s.tryLoad(t.Context(), objects, changes); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) tryLoad(ctx context.Context, objects, changes int) error {
	writers, ctx := errgroup.WithContext(ctx)
	for i := range objects {
		writers.Go(func() error {
			name := "it-" + strconv.Itoa(i)
			err := s.tryCreate(ctx, name, "0")
			for change := 0; change < changes && err == nil; change++ {
				err = s.tryUpdate(ctx, name, strconv.Itoa(change+1))
			}
			return err
		})
	}
	return writers.Wait()
}

func TestObserver_HandlerIsSlow_ChangesAreFolded(t *testing.T) {
	const objects, changes = 10, 50
	each(t, func(t *testing.T, s *scene) {
		var mu sync.Mutex
		folded, calls, last := 0, 0, map[string]string{}
		proceed := make(chan struct{})
		s.subscribe(t, "slow", func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			select {
			case <-proceed:
			case <-s.ctx.Done():
			}
			mu.Lock()
			defer mu.Unlock()
			folded, calls, last[e.Name.Name] = folded+e.Folded, calls+1, e.Object.Data["value"]
			return nil
		})
		var fast atomic.Int64
		s.subscribe(t, "fast", func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			fast.Add(int64(e.Folded))
			return nil
		})
		s.load(t, objects, changes)
		harness.Eventually(t, "the fast observer has received everything", func(context.Context) error {
			if n := fast.Load(); n != objects*(changes+1) {
				return fmt.Errorf("it has received %d", n)
			}
			return nil
		})
		close(proceed)
		harness.Eventually(t, "the slow observer has received everything", func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if folded != objects*(changes+1) {
				return fmt.Errorf("it has received %d", folded)
			}
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		if most := 2 * objects; calls > most {
			t.Errorf("the observer was called %d times for %d objects, want %d times at most", calls, objects, most)
		}
		for name, value := range last {
			if value != strconv.Itoa(changes) {
				t.Errorf("the last state of %s was %s, want %d", name, value, changes)
			}
		}
	})
}

func TestObserver_SeveralWorkers_OneCallPerObjectInOrder(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		const objects, changes = 10, 20
		var calling, seen sync.Map
		var received atomic.Int64
		s.subscribe(t, "workers", func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			if _, twice := calling.LoadOrStore(e.Name, true); twice {
				t.Errorf("there are two calls for %v", e.Name)
			}
			defer calling.Delete(e.Name)
			before, isKnown := seen.Swap(e.Name, e.Object.ResourceVersion)
			if isKnown {
				if order, err := resourceversion.CompareResourceVersion(before.(string), e.Object.ResourceVersion); err != nil || order >= 0 {
					t.Errorf("%v was received at version %s after %s", e.Name, e.Object.ResourceVersion, before)
				}
			}
			received.Add(int64(e.Folded))
			return nil
		}, options{Workers: 8})
		s.load(t, objects, changes)
		harness.Eventually(t, "all changes", func(context.Context) error {
			if n := received.Load(); n != objects*(changes+1) {
				return fmt.Errorf("%d were received", n)
			}
			return nil
		})
	})
}

func TestObserver_Fails_IsCalledAgainAndOthersAreNotDelayed(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for name, fail := range map[string]func() error{
			"panic": func() error { panic("on purpose") },
			"error": func() error { return errors.New("on purpose") },
			"later": func() error { return controller.NewRequeueAfter(50 * time.Millisecond) },
		} {
			var j journal
			var calls atomic.Int64
			failing, other := "failing-"+name, "other-"+name
			s.subscribe(t, name, func(ctx context.Context, e observe.Event[*corev1.ConfigMap]) error {
				if e.Name.Name == failing && calls.Add(1) <= 3 {
					return fail()
				}
				return j.record(ctx, e)
			}, options{Where: func(cm *corev1.ConfigMap) bool { return cm.Name == failing || cm.Name == other }})
			s.create(t, failing, "1")
			s.create(t, other, "1")
			j.await(t, "Added "+failing, "Added "+other)
			if n := calls.Load(); n != 4 {
				t.Errorf("%s: the observer was called %d times for one event, want 4 times", name, n)
			}
		}
	})
}

func TestObserver_PermanentError_DropsTheEvent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var j journal
		s.subscribe(t, "permanent", func(ctx context.Context, e observe.Event[*corev1.ConfigMap]) error {
			_ = j.record(ctx, e)
			return controller.NewPermanentError(errors.New("on purpose"))
		})
		s.create(t, "a", "1")
		j.await(t, "Added a")
		s.update(t, "a", "2")
		j.await(t, "Added a", "Updated a 1→2")
		s.delete(t, "a")
		j.await(t, "Added a", "Updated a 1→2", "Deleted a")
	})
}

func TestObserver_InlinePanics_IsSynced(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.create(t, "a", "1")
		s.settle(t, 1)
		var calls atomic.Int64
		// subscribe waits until the observer is synced.
		s.subscribe(t, "panics", func(context.Context, observe.Event[*corev1.ConfigMap]) error {
			calls.Add(1)
			panic("on purpose")
		}, options{Inline: true})
		if n := calls.Load(); n != 1 {
			t.Errorf("the observer was called %d times, want once", n)
		}
	})
}

func TestObserver_Timeout_EndsTheContextOfACall(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var ended atomic.Int64
		s.subscribe(t, "timeout", func(ctx context.Context, _ observe.Event[*corev1.ConfigMap]) error {
			<-ctx.Done()
			ended.Add(1)
			return nil
		}, options{Timeout: time.Millisecond})
		s.create(t, "a", "1")
		harness.Eventually(t, "the call ends", func(context.Context) error {
			if ended.Load() == 0 {
				return errors.New("it runs")
			}
			return nil
		})
	})
}

func TestSubscription_StopDuringACall_WaitsForItAndNothingFollows(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for name, o := range ways {
			began, proceed := make(chan struct{}), make(chan struct{})
			var calls atomic.Int64
			subscription, err := observe.Subscribe(s.ctx, name, s.configMaps(), func(context.Context, observe.Event[*corev1.ConfigMap]) error {
				if calls.Add(1) == 1 {
					close(began)
				}
				<-proceed
				return nil
			}, o)
			if err != nil {
				t.Fatal(err)
			}
			var j journal
			s.subscribe(t, name+"-other", j.record, o)
			s.create(t, "first-"+strings.ToLower(name), "1")
			awaitClosed(t, began, "the call begins")
			expired, cancel := context.WithCancel(t.Context())
			cancel()
			if err := subscription.Stop(expired); !errors.Is(err, context.Canceled) {
				t.Errorf("Stop with a context that has ended: got %v, want context.Canceled", err)
			}
			close(proceed)
			if err := subscription.Stop(t.Context()); err != nil {
				t.Errorf("Stop: %v", err)
			}
			before := calls.Load()
			s.create(t, "second-"+strings.ToLower(name), "1")
			harness.Eventually(t, "the other observer receives it", func(context.Context) error {
				for _, entry := range j.read() {
					if entry == "Added second-"+strings.ToLower(name) {
						return nil
					}
				}
				return errors.New("it has not")
			})
			if after := calls.Load(); after != before || before != 1 {
				t.Errorf("%s: the observer was called %d times before Stop returned, and %d times in all, want once", name, before, after)
			}
		}
	})
}

func TestSource_EqualSources_ShareAWatchThatEndsWithTheLast(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		watches := func(want int) {
			t.Helper()
			harness.Eventually(t, fmt.Sprintf("%d watches", want), func(context.Context) error {
				if n := s.proxy.Watches(s.ours()); n != want {
					return fmt.Errorf("there are %d", n)
				}
				return nil
			})
		}
		ignore := func(context.Context, observe.Event[*corev1.ConfigMap]) error { return nil }
		var subscriptions []*observe.Subscription
		subscribe := func(name string, source observe.Source[*corev1.ConfigMap]) {
			t.Helper()
			subscription, err := observe.Subscribe(s.ctx, name, source, ignore)
			if err != nil {
				t.Fatal(err)
			}
			subscriptions = append(subscriptions, subscription)
		}
		requests := s.proxy.Count(s.ours())
		_ = s.configMaps()
		if n := requests(); n != 0 {
			t.Errorf("a source without an observer has sent %d requests", n)
		}
		subscribe("first", s.configMaps())
		watches(1)
		subscribe("second", s.configMaps())
		subscribe("other", s.configMaps(observe.Labels("other")))
		watches(2)
		for i, left := range []int{2, 1, 0} {
			if err := subscriptions[i].Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			watches(left)
		}
		subscribe("again", s.configMaps())
		watches(1)
		if err := subscriptions[3].Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestSource_AnotherTransform_IsRejected(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var j journal
		s.subscribe(t, "first", j.record)
		other := observe.Transform(func(obj any) (any, error) { return obj, nil })
		if _, err := observe.Subscribe(s.ctx, "second", s.configMaps(other), j.record); err == nil {
			t.Error("two sources with one watch have different transforms, and there is no error")
		}
	})
}

func TestSubscribe_WhileObjectsChange_MissesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		const objects, changes = 20, 20
		var known sync.Map
		s.subscribe(t, "first", func(context.Context, observe.Event[*corev1.ConfigMap]) error { return nil })
		var writing errgroup.Group
		writing.Go(func() error { return s.tryLoad(t.Context(), objects, changes) })
		for i := range 5 {
			s.subscribe(t, fmt.Sprintf("late-%d", i), func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
				known.Store([2]any{i, e.Name}, e.Object.Data["value"])
				return nil
			})
		}
		if err := writing.Wait(); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "every observer knows every object as it is", func(context.Context) error {
			for i := range 5 {
				for object := range objects {
					name := cache.NewObjectName(s.ns, "it-"+strconv.Itoa(object))
					if value, _ := known.Load([2]any{i, name}); value != strconv.Itoa(changes) {
						return fmt.Errorf("observer %d knows %v of %v", i, value, name)
					}
				}
			}
			return nil
		})
	})
}
