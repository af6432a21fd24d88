/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// neighbor is an observer that misbehaves in each call.
type neighbor struct {
	harm    func() error
	options Options[*corev1.Secret]
	result  result
}

// neighbors are named after what they do.
var neighbors = map[string]neighbor{
	"slow":          {harm: sleeping1s, result: resultSuccess},
	"slow-inline":   {harm: sleeping1s, options: Options[*corev1.Secret]{Inline: true}, result: resultSuccess},
	"failing":       {harm: returning(errInduced), result: resultError},
	"panics":        {harm: panicking, result: resultPanic},
	"panics-inline": {harm: panicking, options: Options[*corev1.Secret]{Inline: true}, result: resultPanic},
}

func sleeping1s() error {
	pass(time.Second)
	return nil
}

// delays returns the delays with which a fast observer receives the changes of 50 objects, of which there are 200 in a second, shortest first. Each of
// its calls takes a millisecond. The others are subscribed to the same source, with a suffix to their names, and their calls are counted.
func delays(t *testing.T, o Options[*corev1.Secret], others map[string]neighbor, suffix string) (delays []time.Duration, calls map[string]*atomic.Int64) {
	t.Helper()
	const objects, changes, every = 50, 2_000, 5 * time.Millisecond
	calls = map[string]*atomic.Int64{}
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := newProcess(t)
		server, began := newAPIServer(), time.Now()
		var subscriptions []*Subscription
		subscribe := func(name string, handler Handler[*corev1.Secret], o Options[*corev1.Secret]) {
			subscription, err := Subscribe(ctx, name, ofSecrets(server), handler, o)
			if err != nil {
				t.Fatal(err)
			}
			subscriptions = append(subscriptions, subscription)
		}
		for name, other := range others {
			n := &atomic.Int64{}
			calls[name] = n
			subscribe(name+suffix, func(context.Context, Event[*corev1.Secret]) error {
				n.Add(1)
				return other.harm()
			}, other.options)
		}
		first := server.version + 1
		var mu sync.Mutex
		subscribe("fast"+suffix, func(_ context.Context, e Event[*corev1.Secret]) error {
			pass(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			delays = append(delays, time.Since(began.Add(time.Duration(versionOf(e.Object)-first)*every)))
			return nil
		}, o)
		synctest.Wait()
		for change := range changes {
			server.write(string(rune('a' + change%objects)))
			pass(every)
		}
		for _, subscription := range subscriptions {
			if err := subscription.Stop(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	slices.Sort(delays)
	return delays, calls
}

func TestObserver_NeighborsAreSlowOrFail_IsNotDelayed(t *testing.T) {
	for way, o := range map[string]Options[*corev1.Secret]{"Queued": {}, "Inline": {Inline: true}} {
		t.Run(way, func(t *testing.T) {
			suffix := "-" + kindOf(t)
			p99 := func(delays []time.Duration) time.Duration {
				if len(delays) < 1000 {
					t.Fatalf("there were only %d calls", len(delays))
				}
				return delays[len(delays)*99/100]
			}
			among, _ := delays(t, o, nil, suffix)
			alone := p99(among)
			among, calls := delays(t, o, neighbors, suffix)
			if next := p99(among); alone <= 0 || next > alone*3/2 {
				t.Errorf("99 %% of the changes arrive within %v next to others, and within %v alone; want at most half as much again", next, alone)
			}
			for name, other := range neighbors {
				counted := measured(t, "observer.calls", attributes{observerKey: name + suffix, resultKey: string(other.result)})
				if n := calls[name].Load(); n == 0 || counted != float64(n) {
					t.Errorf("observer %s was called %d times, and %v calls with result %s are counted", name, n, counted, other.result)
				}
			}
		})
	}
}
