/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"knative.dev/pkg/reconciler"
)

// takeover is within what a killed process has a successor.
const takeover = 18 * time.Second

func TestLeader_Stopped_ReleasesAfterTheLastReconciliation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.start("first", 1, func(p *process) {
			p.work = func() time.Duration { return 4 * time.Second }
		})
		w.within(time.Second, "the first leads", w.reconciledBy(first))
		second := w.start("second", 1)
		<-time.After(10 * time.Second)
		begun := w.reconciledBy(second)
		first.stop()
		w.within(5*time.Second, "the first has ended its work", func() bool {
			if !w.busy(first) {
				return true
			}
			if held := w.holders()["duck.00-of-01"]; held != "first" {
				t.Fatalf("the lease is held by %q while the first works", held)
			}
			return false
		})
		w.within(2*time.Second, "the second leads", begun)
		stopAll(first, second)
		if held := w.holders(); len(held) > 0 {
			t.Errorf("still held: %v", held)
		}
	})
}

func TestLeader_Stopped_LeadsAndReconcilesOnlyWhatDrainsUntilItIsDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// Longer than a lease lasts.
		first := w.start("first", 1, func(p *process) { p.draining = 20 * time.Second })
		w.within(time.Second, "the first leads", w.reconciledBy(first))
		second := w.start("second", 1)
		<-time.After(10 * time.Second)
		begun := w.reconciledBy(second)
		first.stop()
		// Until the last reconciliations have ended.
		<-time.After(2 * time.Second)
		drained := 0
		draining := &member{leader: first.leader, inner: &counting{count: &drained}, drains: true}
		for range 17 {
			<-time.After(time.Second)
			if held := w.holders()["duck.00-of-01"]; held != "first" || w.busy(first) {
				t.Fatalf("the lease is held by %q while the first drains, which reconciles: %t", held, w.busy(first))
			}
			if err := draining.Reconcile(t.Context(), "ns/it"); err != nil {
				t.Fatal(err)
			}
		}
		if drained != 17 {
			t.Errorf("%d keys were drained, want 17", drained)
		}
		w.within(3*time.Second, "the second leads", begun)
		stopAll(first, second)
	})
}

// counting counts reconciliations.
type counting struct {
	reconciler.LeaderAwareFuncs

	count *int
}

func (c *counting) Reconcile(context.Context, string) error {
	*c.count++
	return nil
}

func TestLeader_RestartedWithItsIdentity_LeadsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.start("pod", 1)
		w.within(time.Second, "it leads", w.reconciledBy(first))
		other := w.start("other", 1)
		<-time.After(5 * time.Second)
		first.kill()
		same := w.start("pod", 1)
		w.within(time.Second, "its successor leads", w.reconciledBy(same))
		stopAll(first, same, other)
	})
}

// The answer to the last renewal arrives late, and the network is cut then.
func TestLeader_RenewalAnsweredLate_StopsBeforeAnotherLeads(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		for late := time.Duration(0); late <= 15*time.Second; late += 250 * time.Millisecond {
			t.Run(fmt.Sprint(late, stubborn), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					first := w.start("first", 1, func(p *process) {
						p.stubborn = stubborn
						p.work = func() time.Duration { return time.Duration(rand.Int64N(int64(4 * time.Second))) }
					})
					w.within(time.Second, "the first leads", w.reconciledBy(first))
					second := w.start("second", 1)
					<-time.After(5 * time.Second)
					var last bool
					first.set(func(string) (time.Duration, time.Duration, error) {
						if last {
							return cut("")
						}
						last = true
						return time.Millisecond, late, nil
					})
					w.within(takeover+time.Second+late, "the second leads", w.reconciledBy(second))
					stopAll(first, second)
				})
			})
		}
	}
}

func TestLeader_StoppedWhileTheLeaseIsLost_StopsBeforeAnotherLeads(t *testing.T) {
	for stop := time.Duration(0); stop <= 15*time.Second; stop += 500 * time.Millisecond {
		t.Run(stop.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var work atomic.Int64
				work.Store(int64(time.Second))
				first := w.start("first", 1, func(p *process) {
					p.stubborn = true
					p.work = func() time.Duration { return time.Duration(work.Load()) }
				})
				w.within(time.Second, "the first leads", w.reconciledBy(first))
				second := w.start("second", 1)
				<-time.After(5 * time.Second)
				work.Store(int64(time.Minute))
				first.set(cut)
				<-time.After(stop)
				first.stop()
				w.within(takeover, "the second leads", w.reconciledBy(second))
				stopAll(second)
				<-first.ended
				<-time.After(time.Minute)
			})
		})
	}
}

func TestLeader_CutOffWithoutStubbornWork_StandsByAndLeadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		only := w.start("only", 3)
		w.within(time.Second, "it leads", w.reconciledBy(only))
		only.set(func(string) (time.Duration, time.Duration, error) {
			return 0, 0, apierrors.NewServiceUnavailable("test")
		})
		<-time.After(time.Minute)
		only.set(fine)
		w.within(3*time.Second, "it leads again", w.reconciledBy(only))
		if w.isDead(only) {
			t.Error("the process ended")
		}
		stopAll(only)
	})
}

func TestLeader_ThreeBuckets_EachReplicaLeadsOne(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			all := []*process{w.start("a", 3), w.start("b", 3), w.start("c", 3)}
			balanced := func() bool { return maps.Equal(w.shares(), map[string]int{"a": 1, "b": 1, "c": 1}) }
			w.within(10*time.Second, "each leads one", balanced)
			<-time.After(5 * time.Second)
			all[1].kill()
			w.within(takeover, "the others lead all", w.reconciledBy(all[0], all[2]))
			all = append(all, w.start("d", 3))
			w.within(10*time.Second, "the new one leads one, too", func() bool {
				return maps.Equal(w.shares(), map[string]int{"a": 1, "c": 1, "d": 1})
			})
			before := w.holders()
			<-time.After(time.Minute)
			if after := w.holders(); !maps.Equal(before, after) {
				t.Errorf("shares move without need: %v, %v", before, after)
			}
			stopAll(all...)
		})
	}
}

func TestLeader_BucketsChange_NoKeyHasTwoLeaders(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var all []*process
			for rollout, buckets := range []uint32{1, 3, 1, 2} {
				old := slices.Clone(all)
				for i := range 3 {
					all = append(all, w.start(fmt.Sprintf("%d-of-rollout-%d", i, rollout), buckets))
					<-time.After(time.Duration(rand.Int64N(int64(3 * time.Second))))
					if len(old) > 0 {
						// Some of the old processes are killed instead.
						if rand.IntN(3) == 0 {
							old[i].kill()
						} else {
							old[i].stop()
						}
					}
				}
				all = all[len(old):]
				w.within(takeover+10*time.Second, "the new processes lead", w.reconciledBy(all...))
			}
			stopAll(all...)
			<-time.After(time.Minute)
		})
	}
}

// A process that starts later would otherwise wait for a lease that is not renewed.
func TestLeader_LeaseOfAnotherNumberOfBucketsExpired_IsCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		old := w.start("old", 2)
		w.within(time.Second, "the old one leads", w.reconciledBy(old))
		old.kill()
		first := w.start("first", 1)
		w.within(takeover, "the first leads", w.reconciledBy(first))
		if held := w.holders(); !maps.Equal(held, map[string]string{"duck.00-of-01": "first"}) {
			t.Errorf("held: %v", held)
		}
		stopAll(first)
		<-old.ended
	})
}

// TestLeader_RandomFaults_NoKeyHasTwoLeaders lets everything go wrong at random times, and then nothing any more.
func TestLeader_RandomFaults_NoKeyHasTwoLeaders(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomFaults(t, rand.New(rand.NewPCG(seed, seed))) })
		})
	}
}

func randomFaults(t *testing.T, random *rand.Rand) {
	t.Helper()
	upTo := func(limit time.Duration) time.Duration { return time.Duration(random.Int64N(int64(limit))) }
	w := newWorld(t)
	counts := []uint32{1, 3}
	var all, old []*process
	begin := func() {
		all = append(all, w.start(fmt.Sprint("process-", len(all)+len(old)), counts[random.IntN(2)], func(p *process) {
			p.stubborn = random.IntN(4) == 0
			longest := []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}[random.IntN(3)]
			p.work = func() time.Duration { return time.Duration(rand.Int64N(int64(longest))) }
		}))
	}
	end := func(i int) {
		old = append(old, all[i])
		all = slices.Delete(all, i, i+1)
	}
	for range 3 {
		begin()
	}
	for range 40 {
		<-time.After(upTo(8 * time.Second))
		i := random.IntN(len(all))
		switch random.IntN(8) {
		case 0:
			all[i].set(cut)
		case 1:
			all[i].set(func(string) (time.Duration, time.Duration, error) {
				return time.Duration(rand.Int64N(int64(6 * time.Second))), time.Duration(rand.Int64N(int64(10 * time.Second))), nil
			})
		case 2:
			all[i].set(func(verb string) (time.Duration, time.Duration, error) {
				if verb != "list" && rand.IntN(2) == 0 {
					return 0, 0, apierrors.NewInternalError(errors.New("test"))
				}
				return fine(verb)
			})
		case 3, 4:
			all[i].set(fine)
		case 5:
			all[i].kill()
			end(i)
			begin()
		default:
			all[i].stop()
			end(i)
			begin()
		}
	}
	for _, p := range all {
		p.stop()
	}
	last := []*process{w.start("last-0", 3), w.start("last-1", 3), w.start("last-2", 3)}
	// Requests on their way may renew a lease again.
	w.within(3*takeover, "the last processes lead", w.reconciledBy(last...))
	w.within(10*time.Second, "each leads one", func() bool {
		return maps.Equal(w.shares(), map[string]int{"last-0": 1, "last-1": 1, "last-2": 1})
	})
	stopAll(last...)
	<-time.After(2 * time.Minute)
}

func TestLeader_Forbidden_LogsOnceAndIsNotReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		core, logs := observer.New(zap.ErrorLevel)
		var reached atomic.Bool
		p := w.start("p", 1, func(p *process) {
			p.options.Logger, p.options.Reached = zap.New(core).Sugar(), func() { reached.Store(true) }
		})
		p.set(func(string) (time.Duration, time.Duration, error) {
			return 0, 0, apierrors.NewForbidden(leases, "", errors.New("no"))
		})
		<-time.After(5 * time.Second)
		if n := logs.FilterField(zap.String("reason", "Forbidden")).Len(); n != 1 {
			t.Errorf("logged %d times, want once: %v", n, logs.All())
		}
		if reached.Load() {
			t.Error("it says that it has read the leases")
		}
		p.set(fine)
		w.within(3*time.Second, "it leads", w.reconciledBy(p))
		if !reached.Load() {
			t.Error("it does not say that it has read the leases")
		}
		stopAll(p)
	})
}

func TestLeaseNames_Reconcilers_AreUnique(t *testing.T) {
	if got, want := LeaseNames("Duck", 2), []string{"duck.00-of-02", "duck.01-of-02"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
