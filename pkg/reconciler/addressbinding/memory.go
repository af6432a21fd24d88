/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/mallard-dev/mallard/pkg/freshness"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// written remembers the resourceVersion of our last patch of each subject until the cache has it. A reconciliation with an older cache would
// patch the subject again, or believe that it has no variable. It may be used by several goroutines.
type written struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	last  map[types.UID]version
	swept time.Time
}

type version struct {
	resourceVersion string
	at              time.Time
}

func newWritten(clock clock.PassiveClock) *written {
	return &written{clock: clock, last: map[types.UID]version{}}
}

func (w *written) record(object metav1.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.last[object.GetUID()] = version{object.GetResourceVersion(), now}
	if now.Sub(w.swept) >= freshness.Patience {
		w.swept = now
		maps.DeleteFunc(w.last, func(_ types.UID, v version) bool { return now.Sub(v.at) >= freshness.Patience })
	}
}

// behind reports whether a cached object is older than our last patch of it. After a while the cache is trusted again: the event of
// the patch does not arrive if etcd was restored from a backup.
func (w *written) behind(cached metav1.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[cached.GetUID()]
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), last.resourceVersion)
	if err == nil && order < 0 && w.clock.Since(last.at) < freshness.Patience {
		return true
	}
	delete(w.last, cached.GetUID())
	return false
}

// attempts makes the same patch of the same subject wait longer each time: another controller may revert it, or the API server refuse
// it. It may be used by several goroutines.
type attempts struct {
	clock   clock.PassiveClock
	backoff *flowcontrol.Backoff

	mu    sync.Mutex
	last  map[string]attempt
	swept time.Time
}

type attempt struct {
	at time.Time
	// problem is nil if the patch succeeded.
	problem *problem.Problem
}

func newAttempts(clock clock.Clock) *attempts {
	return &attempts{
		clock: clock, last: map[string]attempt{},
		backoff: flowcontrol.NewFakeBackOff(problem.FirstRecheck, problem.LastRecheck, clock),
	}
}

// delay returns the back-off of a patch, zero for one that was not made before.
func (a *attempts) delay(key string) time.Duration { return a.backoff.Get(key) }

// wait returns how long a patch has to wait, and what the last attempt failed with.
func (a *attempts) wait(key string) (*problem.Problem, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.last[key]
	return last.problem, a.backoff.Get(key) - a.clock.Since(last.at)
}

// made records an attempt. A problem with the reason of the one before gets its message, which must not vary between retries.
func (a *attempts) made(key string, p *problem.Problem) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	a.backoff.Next(key, now)
	if before := a.last[key].problem; p != nil && before != nil && before.Reason == p.Reason {
		p.Message = before.Message
	}
	var kept *problem.Problem
	if p != nil {
		kept = &problem.Problem{Reason: p.Reason, Message: p.Message}
	}
	a.last[key] = attempt{at: now, problem: kept}
	if now.Sub(a.swept) >= problem.LastRecheck {
		a.swept = now
		a.backoff.GC()
		maps.DeleteFunc(a.last, func(key string, _ attempt) bool { return a.backoff.Get(key) == 0 })
	}
}
