/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

// writers is the number of goroutines that send requests at a time.
const writers = 8

// load creates objects and then changes each of them, from several goroutines.
func (s *scene) load(t *testing.T, objects, changes int) {
	t.Helper()
	s.write(t, objects, func(ctx context.Context, i int) error {
		name := "it-" + strconv.Itoa(i)
		err := s.tryCreate(ctx, name, "0")
		for change := 0; change < changes && err == nil; change++ {
			err = s.tryUpdate(ctx, name, strconv.Itoa(change+1))
		}
		return err
	})
}

// write calls f for each number, from several goroutines.
func (s *scene) write(t *testing.T, numbers int, f func(ctx context.Context, i int) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(writers)
	for i := range numbers {
		group.Go(func() error { return f(ctx, i) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// gate is a handler whose calls wait until it is open.
type gate struct {
	*ledger

	began, opened chan struct{}
	begin, open   func()
}

func newGate(s *scene) *gate {
	g := &gate{ledger: newLedger(), began: make(chan struct{}), opened: make(chan struct{})}
	g.begin, g.open = sync.OnceFunc(func() { close(g.began) }), sync.OnceFunc(func() { close(g.opened) })
	context.AfterFunc(s.ctx, g.open)
	g.during = func(observe.Event[*corev1.ConfigMap]) {
		g.begin()
		<-g.opened
	}
	return g
}

// samplePending returns the largest number of objects with events that are pending for the registered observer, once stop is called.
func (s *scene) samplePending() (stop func() (most int)) {
	ended, result := make(chan struct{}), make(chan int)
	go func() {
		most := 0
		for ticker := time.NewTicker(time.Millisecond); ; {
			most = max(most, observe.Pending(s.ctx, registered))
			select {
			case <-ticker.C:
			case <-ended:
				ticker.Stop()
				result <- most
				return
			}
		}
	}()
	return func() int {
		close(ended)
		return <-result
	}
}

// awaitPending waits until events of a number of objects are pending for the registered observer.
func (s *scene) awaitPending(t *testing.T, objects int) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("events of %d objects are pending", objects), func(context.Context) error {
		if n := observe.Pending(s.ctx, registered); n != objects {
			return fmt.Errorf("those of %d are", n)
		}
		return nil
	})
}

func TestObserver_HandlerIsSlow_ChangesAreFoldedAndPendingIsBounded(t *testing.T) {
	const objects, changes = 50 / share, 20
	each(t, func(t *testing.T, s *scene) {
		slow := newGate(s)
		s.register(t, slow.enter)
		var fast atomic.Int64
		s.subscribe(t, "fast", func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			fast.Add(int64(e.Folded))
			return nil
		})
		stop := s.samplePending()
		s.load(t, objects, changes)
		harness.Eventually(t, "the fast observer has received everything", func(context.Context) error {
			if n := fast.Load(); n != objects*(changes+1) {
				return fmt.Errorf("it has received %d", n)
			}
			return nil
		})
		s.awaitPending(t, objects)
		slow.open()
		slow.await(t, s)
		s.awaitPending(t, 0)
		if most := stop(); most != objects {
			t.Errorf("events of %d objects were pending at a time, want %d at most", most, objects)
		}
		slow.mu.Lock()
		defer slow.mu.Unlock()
		if slow.folded != objects*(changes+1) || slow.calls > 2*objects {
			t.Errorf("the observer received %d notifications in %d calls, want %d in %d at most", slow.folded, slow.calls, objects*(changes+1), 2*objects)
		}
	})
}

func TestObserver_ObjectsComeAndGoDuringACall_OnlyAnnouncedOnesAreDeleted(t *testing.T) {
	const known, kept, transient = 5, 3, 500 / share
	each(t, func(t *testing.T, s *scene) {
		blocks := newGate(s)
		var isBlocking atomic.Bool
		wait := blocks.during
		blocks.during = func(e observe.Event[*corev1.ConfigMap]) {
			if isBlocking.Load() {
				wait(e)
			}
		}
		s.register(t, blocks.enter)
		s.write(t, known, func(ctx context.Context, i int) error { return s.tryCreate(ctx, "known-"+strconv.Itoa(i), "1") })
		blocks.await(t, s)
		s.awaitPending(t, 0)
		isBlocking.Store(true)
		s.create(t, "calling", "1")
		awaitClosed(t, blocks.began, "the call begins")

		stop := s.samplePending()
		s.delete(t, "calling")
		s.delete(t, "known-0")
		s.delete(t, "known-1")
		s.update(t, "known-2", "2")
		s.write(t, transient, func(ctx context.Context, i int) error {
			name := "transient-" + strconv.Itoa(i)
			return errors.Join(s.tryCreate(ctx, name, "1"), s.tryDelete(ctx, name))
		})
		s.write(t, kept, func(ctx context.Context, i int) error { return s.tryCreate(ctx, "kept-"+strconv.Itoa(i), "1") })
		// Those that are kept, and those of which the observer knows: the call that runs, two deletions and an update.
		s.awaitPending(t, kept+4)
		if most, live := stop(), writers+kept+known+1; most > live {
			t.Errorf("events of %d objects were pending at a time, want those of %d at most, which existed or were announced", most, live)
		}
		blocks.open()
		blocks.await(t, s)
		s.awaitPending(t, 0)
	})
}

// taking returns a function that delays calls of a ledger randomly, so that there are changes during calls, and two calls at a time would overlap.
func taking(source rand.Source, longest time.Duration) func(observe.Event[*corev1.ConfigMap]) {
	var mu sync.Mutex
	return func(observe.Event[*corev1.ConfigMap]) {
		mu.Lock()
		latency := time.Duration(source.Int63()) % longest
		mu.Unlock()
		time.Sleep(latency) //nolint:forbidigo // see above
	}
}

func TestObserver_SeveralWorkers_OneCallPerObjectInOrder(t *testing.T) {
	const objects, changes = 20, 100 / share
	each(t, func(t *testing.T, s *scene) {
		l := newLedger()
		l.during = taking(testrand.Source(t), 20*time.Millisecond)
		s.subscribe(t, "workers", l.enter, options{Workers: 8})
		s.load(t, objects, changes)
		l.await(t, s)
		harness.Eventually(t, "all changes", func(context.Context) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.folded != objects*(changes+1) {
				return fmt.Errorf("%d were received", l.folded)
			}
			return nil
		})
	})
}

func TestSubscribe_WhileObjectsChange_MissesNothing(t *testing.T) {
	const objects, late, changes = 500 / share, 3, 1500 / share
	each(t, func(t *testing.T, s *scene) {
		source := testrand.Source(t)
		s.write(t, objects, func(ctx context.Context, i int) error { return s.tryCreate(ctx, "it-"+strconv.Itoa(i), "0") })
		s.subscribe(t, "first", newLedger().enter)
		writing, ctx := errgroup.WithContext(t.Context())
		for w := range writers {
			random := rand.New(rand.NewSource(source.Int63()))
			writing.Go(func() error {
				isGone, err := map[string]bool{}, error(nil)
				for change := 0; change < changes/writers && err == nil; change++ {
					// Each writer has its own objects.
					name := "it-" + strconv.Itoa(random.Intn(objects/writers)*writers+w)
					switch {
					case isGone[name]:
						err = s.tryCreate(ctx, name, "0")
					case random.Intn(5) == 0:
						err = s.tryDelete(ctx, name)
						isGone[name] = true
						continue
					default:
						err = s.tryUpdate(ctx, name, strconv.Itoa(change))
					}
					isGone[name] = false
				}
				return err
			})
		}
		var ledgers []*ledger
		for i := range late {
			ledgers = append(ledgers, newLedger())
			ledgers[i].during = taking(rand.NewSource(source.Int63()), time.Millisecond)
			s.subscribe(t, fmt.Sprintf("late-%d", i), ledgers[i].enter)
		}
		if err := writing.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, l := range ledgers {
			l.await(t, s)
		}
	})
}
