//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestLeader_Exits_StandbyWritesSoon(t *testing.T) {
	for name, tc := range map[string]struct {
		end   func(*harness.Process, testing.TB)
		lasts time.Duration
	}{
		"stopped": {(*harness.Process).Stop, 0}, // the lease is released
		"killed":  {(*harness.Process).Kill, leaseDuration},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := twoControllers(t)
			leader, standby := roles(t, env)
			mark := env.Mark(t)
			ns := env.Namespace(t)
			stream := fixtures.StartStream(t, env, ns, time.Second/perSecond)
			stream.AwaitMore(t, perSecond)
			awaitWrite(t, mark, leader)
			ended := time.Now()
			tc.end(env.Process(t, leader), t)
			first := awaitWrite(t, mark, standby)
			stream.AwaitMore(t, perSecond)
			made := len(stream.Stop(t))
			awaitPublished(t, env, ns, made)
			t.Logf("%s: the standby wrote %v after that, at %d objects", name, first.Time.Sub(ended), made)
			fixtures.CheckTakeover(t, mark, fixtures.ControllerLease, harness.ByProcess(leader), harness.ByProcess(standby), tc.lasts)
			checkOneWriter(t, mark, leader, standby)
			checkWrittenOnce(t, mark, leader, standby)
		})
	}
}

// awaitWrite waits until a process has written and returns its first write.
func awaitWrite(t *testing.T, mark harness.Mark, process string) harness.AuditEntry {
	t.Helper()
	var first harness.AuditEntry
	harness.EventuallyWithin(t, patience, process+" writes", func(context.Context) error {
		writes := mark.Entries(t, work, harness.ByProcess(process))
		if len(writes) == 0 {
			return errors.New("it has written nothing")
		}
		first = writes[0]
		return nil
	})
	return first
}

// checkOneWriter fails when the old leader wrote after the new one began.
func checkOneWriter(t *testing.T, mark harness.Mark, before, after string) {
	t.Helper()
	first, second := mark.Entries(t, work, harness.ByProcess(before)), mark.Entries(t, work, harness.ByProcess(after))
	if len(first) == 0 || len(second) == 0 {
		t.Fatalf("%s wrote %d times and %s %d times, want both to have written", before, len(first), after, len(second))
	}
	last := slices.MaxFunc(first, func(a, b harness.AuditEntry) int { return a.Time.Compare(b.Time) })
	begin := slices.MinFunc(second, func(a, b harness.AuditEntry) int { return a.Time.Compare(b.Time) })
	if !last.Time.Before(begin.Time) {
		t.Errorf("%s wrote at %v, after %s had begun at %v: %+v", before, last.Time, after, begin.Time, last)
	}
}

// checkWrittenOnce fails when both leaders wrote the same status of one object. The first status of a published object records the namespace of the
// alias, and the second one that the alias exists.
func checkWrittenOnce(t *testing.T, mark harness.Mark, before, after string) {
	t.Helper()
	status := harness.ByRequest(harness.Matching("update", "addressableservices/status"))
	accepted := func(e harness.AuditEntry) bool { return e.Code < 300 }
	written := map[string]int{}
	for _, process := range []string{before, after} {
		for _, e := range mark.Entries(t, status, accepted, harness.ByProcess(process)) {
			if written[e.Namespace+"/"+e.Name]++; written[e.Namespace+"/"+e.Name] > 2 {
				t.Errorf("%s wrote a status again: %+v", process, e)
			}
		}
	}
}

func TestLeader_Stops_HoldsTheLeaseUntilItsLastWrite(t *testing.T) {
	t.Parallel()
	env := twoControllers(t)
	leader, standby := roles(t, env)
	ns := env.Namespace(t)
	mark := env.Mark(t)
	held := env.Proxy(t, leader).Hold(harness.Matching("update", "addressableservices/status").And(harness.InNamespace(ns)))
	as := env.Apply(t, ns, fixtures.Target+"---"+subject)[1]
	held.Wait(t)

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		env.Process(t, leader).Stop(t)
	}()
	// The standby polls until then; it would take a lease that is free.
	awaitAttempts(t, env, standby, 9)
	if now, err := holder(t, env); err != nil || now != leader {
		t.Errorf("the lease is held by %q (%v) while %s has not ended its write", now, err, leader)
	}
	held.Release()
	<-stopped
	harness.Eventually(t, "the standby leads", func(context.Context) error {
		if now, err := holder(t, env); err != nil || now != standby {
			return fmt.Errorf("it is %q: %w", now, err)
		}
		return nil
	})
	env.Await(t, as, harness.Ready)
	// That the object needs no second write is shown by a write that the standby has cause for.
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	checkOneWriter(t, mark, leader, standby)
}

// awaitAttempts waits until a standby has looked at its leases n more times.
func awaitAttempts(t *testing.T, env *harness.Env, process string, n int) {
	t.Helper()
	look := harness.Answer{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Code: 200}
	before := env.Proxy(t, process).Requests()[look]
	harness.Eventually(t, "the standby looks at its leases", func(context.Context) error {
		if more := env.Proxy(t, process).Requests()[look] - before; more < n {
			return fmt.Errorf("%d times", more)
		}
		return nil
	})
}

func TestLeader_LeaseLostDuringAWrite_CancelsTheWriteBeforeAnotherWrites(t *testing.T) {
	t.Parallel()
	env := twoControllers(t)
	leader, standby := roles(t, env)
	ns := env.Namespace(t)
	mark := env.Mark(t)
	warmUp := env.Apply(t, ns, fixtures.Target+"---"+subject)
	env.Await(t, warmUp[1], harness.Ready)
	pid := env.Process(t, leader).PID()
	proxy := env.Proxy(t, leader)
	held := proxy.Hold(harness.Matching("update", "addressableservices/status").And(harness.InNamespace(ns)))
	env.Delete(t, warmUp[0])
	held.Wait(t)
	// The write is in flight, and the lease cannot be renewed any more.
	proxy.Fail(harness.Matching("*", "leases"), 503)
	env.AwaitWithin(t, patience, warmUp[1], harness.HasCondition("Ready", "False", ""))
	// The proxy passes the write on only if the old leader still waits for it.
	held.Release()
	if writes := mark.Entries(t, work, harness.ByProcess(standby)); len(writes) == 0 {
		t.Error("the standby wrote nothing")
	}
	checkOneWriter(t, mark, leader, standby)
	if now := env.Process(t, leader).PID(); now != pid {
		t.Errorf("the process that lost the lease was %d and is %d", pid, now)
	}
}

func TestLeader_CutOffWithoutWork_BecomesStandby(t *testing.T) {
	t.Parallel()
	env := twoControllers(t)
	leader, standby := roles(t, env)
	ns := env.Namespace(t)
	// client-go logs each failed renewal. The connections are cut as soon as the object is Ready, and with them the answers to the leader's last
	// writes.
	env.ExpectErrors(t, "lease", ns)
	as := env.Apply(t, ns, fixtures.Target+"---"+subject)[1]
	env.Await(t, as, harness.Ready)
	pid := env.Process(t, leader).PID()
	env.Proxy(t, leader).Cut()
	harness.EventuallyWithin(t, patience, "the standby leads", func(context.Context) error {
		if now, err := holder(t, env); err != nil || now != standby {
			return fmt.Errorf("it is %q: %w", now, err)
		}
		return nil
	})
	env.Proxy(t, leader).Restore()
	awaitAttempts(t, env, leader, 6)
	if now := env.Process(t, leader).PID(); now != pid {
		t.Errorf("the process that was cut off was %d and is %d", pid, now)
	}
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
}
