/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"sync"
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
