/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

var errInduced = errors.New("induced")

// script is a handler with the result that a test defines for each call; later calls succeed. It notes its calls.
type script struct {
	start   time.Time
	results []func() error
	calls   []string
}

func (s *script) handle(_ context.Context, e Event[*partial]) error {
	s.calls = append(s.calls, fmt.Sprintf("%v %v %s@%s ×%d", time.Since(s.start), e.Type, e.Name.Name, e.Object.ResourceVersion, e.Folded))
	if len(s.results) == 0 {
		return nil
	}
	result := s.results[0]
	s.results = s.results[1:]
	return result()
}

func (s *script) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if !slices.Equal(s.calls, want) {
		t.Errorf("the calls are %q, want %q", s.calls, want)
	}
}

// returning is a call that ends with an error.
func returning(err error) func() error { return func() error { return err } }

// panicking is a call that ends with a panic.
func panicking() error { panic("induced panic") }

// play runs an observer whose calls are those of a script, in a bubble of synctest.
func play(t *testing.T, logger *zap.Logger, results []func() error, run func(q *queue[*partial], s *script)) {
	t.Helper()
	name := kindOf(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(logging.WithLogger(context.Background(), logger.Sugar()))
		defer cancel()
		s := &script{start: time.Now(), results: results}
		run(started(ctx, t, name, s.handle), s)
	})
}

// expectResults compares how many calls are counted by their results.
func expectResults(t *testing.T, want map[result]float64) {
	t.Helper()
	for _, r := range []result{
		resultSuccess, resultRequeue, resultError, resultPermanentError, resultPanic,
	} {
		if n := measured(t, "observer.calls", attributes{observerKey: kindOf(t), resultKey: string(r)}); n != want[r] {
			t.Errorf("%v calls with result %s are counted, want %v", n, r, want[r])
		}
	}
}

func TestQueue_ErrorsThenAPermanentOne_BacksOffAndDropsTheEvent(t *testing.T) {
	permanent := returning(controller.NewPermanentError(errInduced))
	play(t, zap.NewNop(), []func() error{returning(errInduced), returning(errInduced), returning(errInduced), permanent}, func(q *queue[*partial], s *script) {
		q.OnAdd(object(1, 1), false)
		pass(time.Minute)
		calls := []string{"0s Added 1@1 ×1", "5ms Added 1@1 ×1", "15ms Added 1@1 ×1", "35ms Added 1@1 ×1"}
		s.expect(t, calls...)
		// The observer counts as knowing what was dropped.
		q.OnUpdate(nil, object(1, 2))
		s.expect(t, append(calls, "1m0s Updated 1@2 ×1")...)
	})
	expectResults(t, map[result]float64{resultError: 3, resultPermanentError: 1, resultSuccess: 1})
}

// everySecond delays each key by a second after an error.
type everySecond struct {
	workqueue.TypedRateLimiter[types.NamespacedName]
}

func (everySecond) When(types.NamespacedName) time.Duration { return time.Second }

func (everySecond) Forget(types.NamespacedName) {}

func TestQueue_RateLimiter_DelaysTheEventAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
		s := &script{start: time.Now(), results: []func() error{returning(errInduced), returning(errInduced)}}
		q := started(ctx, t, "it", s.handle, Options[*partial]{RateLimiter: everySecond{}})
		q.OnAdd(object(1, 1), false)
		pass(time.Minute)
		s.expect(t, "0s Added 1@1 ×1", "1s Added 1@1 ×1", "2s Added 1@1 ×1")
	})
}

func TestQueue_RequeueAfter_RepeatsTheEventThenAndIsNoFailure(t *testing.T) {
	later := returning(controller.NewRequeueAfter(2 * time.Second))
	play(t, zap.NewNop(), []func() error{later, later, returning(errInduced)}, func(q *queue[*partial], s *script) {
		q.OnAdd(object(1, 1), false)
		pass(3 * time.Second)
		q.OnUpdate(nil, object(1, 2))
		pass(time.Minute)
		// The back-off after the error is the shortest one.
		s.expect(t, "0s Added 1@1 ×1", "2s Added 1@1 ×1", "4s Added 1@2 ×2", "4.005s Added 1@2 ×2")
	})
	expectResults(t, map[result]float64{resultRequeue: 2, resultError: 1, resultSuccess: 1})
}

func TestQueue_HandlerPanics_IsLoggedOnceCountedAndRepeatedWithWhatChangedSince(t *testing.T) {
	core, logs := zapobserver.New(zap.ErrorLevel)
	panics := func() error {
		pass(time.Second)
		return panicking()
	}
	play(t, zap.New(core), []func() error{panics}, func(q *queue[*partial], s *script) {
		q.OnAdd(object(1, 1), false)
		synctest.Wait()
		q.OnUpdate(nil, object(1, 2))
		q.OnAdd(object(2, 3), false)
		pass(time.Minute)
		s.expect(t, "0s Added 1@1 ×1", "1s Added 2@3 ×1", "1.005s Added 1@2 ×2")
	})
	expectResults(t, map[result]float64{resultPanic: 1, resultSuccess: 2})
	entries := logs.FilterMessage("An observer panicked").All()
	if len(entries) != 1 || !strings.Contains(fmt.Sprint(entries[0].ContextMap()["stack"]), "observe.panicking") {
		t.Errorf("logged is %+v, want one panic with its stack", entries)
	}
	for _, entry := range logs.All() {
		if text := fmt.Sprint(entry.ContextMap()); entry.Message != "An observer panicked" && strings.Contains(text, "observe.panicking") {
			t.Errorf("the stack is logged again: %s %s", entry.Message, text)
		}
	}
}

func TestObserver_QueuedAndInline_FollowTheirOptions(t *testing.T) {
	for way, o := range map[string]Options[*partial]{"Queued": {}, "Inline": {Inline: true}} {
		t.Run(way, func(t *testing.T) {
			name := kindOf(t)
			synctest.Test(t, func(t *testing.T) {
				o.Types, o.Timeout = []Type{Added, Deleted}, time.Second
				var received []string
				it := observerOf(logging.WithLogger(t.Context(), zap.NewNop().Sugar()), t, name, func(ctx context.Context, e Event[*partial]) error {
					received = append(received, fmt.Sprint(e.Type, " ", e.Name.Name))
					if <-ctx.Done(); o.Inline {
						panic("induced")
					}
					return nil
				}, o)
				var handler cache.ResourceEventHandler = &inline[*partial]{observer: it}
				if !o.Inline {
					q := newQueue(it, reconciler.UniversalBucket())
					defer q.stop()
					handler = q
				}
				for _, notify := range []func(){
					func() { handler.OnAdd(&corev1.Secret{}, false) },
					func() { handler.OnAdd(object(1, 1), false) },
					func() { handler.OnUpdate(object(1, 1), object(1, 2)) },
					func() { handler.OnDelete(object(1, 2)) },
				} {
					notify()
					pass(time.Minute)
				}
				if want := []string{"Added 1", "Deleted 1"}; !slices.Equal(received, want) {
					t.Errorf("received are %q, want %q", received, want)
				}
			})
			if n := measured(t, "observer.mismatches", attributes{observerKey: name}); n != 1 {
				t.Errorf("%v objects of another type are counted, want 1", n)
			}
		})
	}
}
