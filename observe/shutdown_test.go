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
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/logging"
)

// shutdown calls Shutdown with these observers, and ten seconds of time.
func shutdown(t *testing.T, stations ...station) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return shutdownWithin(ctx, stations...)
}

func shutdownWithin(ctx context.Context, stations ...station) error {
	h := &hub{stations: map[any]station{}}
	for _, at := range stations {
		h.add(at, at)
	}
	registry.Lock()
	registry.hubs = append(registry.hubs, h)
	registry.Unlock()
	return Shutdown(ctx)
}

func TestShutdown_OneObserverIsStuck_TheOthersReceiveAllEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 100
		ctx, stop := context.WithCancel(context.Background())
		var received atomic.Int32
		release := make(chan struct{})
		defer close(release)
		healthy := started(ctx, t, "healthy", func(context.Context, Event[*partial]) error {
			pass(50 * time.Millisecond)
			received.Add(1)
			return nil
		})
		stuck := started(ctx, t, "stuck", func(context.Context, Event[*partial]) error {
			<-release
			return nil
		})
		for i := range objects {
			healthy.OnAdd(object(i, 1), false)
		}
		stuck.OnAdd(object(1, 1), false)
		synctest.Wait()
		stop()
		err := shutdown(t, healthy, stuck)
		if err == nil || !strings.Contains(err.Error(), `observer "stuck": the events of 1 objects were not delivered`) || strings.Contains(err.Error(), "healthy") {
			t.Errorf("got error %v, want one about the observer that is stuck", err)
		}
		if n := received.Load(); n != objects {
			t.Errorf("the other observer has received %d events, want %d", n, objects)
		}
	})
}

// client-go delivers what its queue and its buffers have after the context of the process has ended.
func TestShutdown_NotificationAfterTheQueueWasEmpty_IsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var received int
		q := started(ctx, t, "it", func(context.Context, Event[*partial]) error {
			pass(time.Second)
			received++
			return nil
		})
		q.OnAdd(object(1, 1), false)
		pass(time.Minute)
		stop()
		synctest.Wait()
		q.OnUpdate(nil, object(1, 2))
		if err := shutdown(t, q); err != nil || received != 2 {
			t.Errorf("got %v after %d events, want no error after 2", err, received)
		}
		q.OnUpdate(nil, object(1, 3))
		pass(time.Minute)
		if received != 2 {
			t.Error("the observer is called after Shutdown")
		}
	})
}

func TestShutdown_CallFails_IsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := started(t.Context(), t, "it", func(context.Context, Event[*partial]) error { return errors.New("induced") })
		q.OnAdd(object(1, 1), false)
		synctest.Wait()
		begin := time.Now()
		if err := shutdown(t, q); err == nil || !strings.Contains(err.Error(), "the events of 1 objects were not delivered") {
			t.Errorf("got %v, want an error about one object", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("Shutdown has waited %v for a call that fails", took)
		}
	})
}

func TestShutdown_Inline_WaitsForTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		i := newInline(observerOf(t.Context(), t, "it", func(context.Context, Event[*partial]) error {
			<-release
			return nil
		}, Options[*partial]{Inline: true}))
		go i.OnAdd(object(1, 1), false)
		synctest.Wait()
		if err := shutdown(t, i); err == nil || !strings.Contains(err.Error(), `observer "it": the events of 1 objects were not delivered`) {
			t.Errorf("got %v, want an error about the call that is running", err)
		}
		close(release)
		synctest.Wait()
		i.OnAdd(object(2, 1), false)
		expired, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 {
			if err := shutdownWithin(expired, i); err != nil {
				t.Fatalf("got %v after the call, want no error", err)
			}
		}
	})
}

func TestSubscription_CallIsRunning_IsWaitedForAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(logging.WithLogger(t.Context(), zap.NewNop().Sugar()))
		defer stop()
		ctx, _ = attach(ctx)
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
		if n := Pending(ctx, "it"); n != 2 {
			t.Errorf("%d objects are pending, want 2", n)
		}
		const want = `observer "it": the events of 2 objects were not delivered`
		for name, end := range map[string]func(context.Context) error{"Stop": s.Stop, "Shutdown": Shutdown} {
			limited, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := end(limited); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want %q and the deadline", name, err, want)
			}
			cancel()
		}
		close(release)
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("got %v after the call, want no error", err)
		}
		before := calls.Load()
		server.write("c")
		synctest.Wait()
		if after := calls.Load(); after != before {
			t.Error("the observer is called after Stop")
		}
		if n := Pending(ctx, "it"); n != 0 {
			t.Errorf("%d objects are pending of an observer that was stopped", n)
		}
	})
}
