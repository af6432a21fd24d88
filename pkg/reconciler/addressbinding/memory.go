/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// memory is what the process knows of its patches of subjects. It may be used by several goroutines.
type memory struct {
	clock clock.PassiveClock
	// written are the resourceVersions that patches made, by the UIDs of subjects.
	written *expiring.Expiring
	// attempts are the last ones of each patch, by what identifies it.
	attempts *expiring.Expiring
}

// attempt is one request to patch a subject.
type attempt struct {
	at time.Time
	// delay is how long the same patch waits before it is sent again. It grows each time: another controller may revert the patch, or
	// the API server refuse it.
	delay time.Duration
	// problem is nil if the patch succeeded.
	problem *failures.Problem
}

func newMemory(clock clock.Clock) *memory {
	return &memory{clock: clock, written: expiring.NewExpiringWithClock(clock), attempts: expiring.NewExpiringWithClock(clock)}
}

// record notes the result of a patch.
func (m *memory) record(patched metav1.Object) {
	m.written.Set(patched.GetUID(), patched.GetResourceVersion(), expectations.Patience)
}

// behind reports whether a cached object is older than our last patch of it. A reconciliation would patch it again, or believe that it
// has no variable. After a while the cache is trusted again: the event of the patch does not arrive if etcd was restored from a backup.
func (m *memory) behind(cached metav1.Object) bool {
	last, ok := m.written.Get(cached.GetUID())
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), last.(string)) //nolint:forcetypeassert // see record
	return err == nil && order < 0
}

// last returns the last attempt of a patch, zero for one that was not made before.
func (m *memory) last(patch string) attempt {
	last, _ := m.attempts.Get(patch)
	made, _ := last.(attempt)
	return made
}

// wait returns how long a patch has to wait since its last attempt.
func (m *memory) wait(last attempt) time.Duration { return last.delay - m.clock.Since(last.at) }

// made records an attempt, and sets when to repeat it if it failed. A problem with the reason of the one before gets its message,
// which must not vary between retries.
func (m *memory) made(patch string, p *failures.Problem) {
	before := m.last(patch)
	now := attempt{at: m.clock.Now(), delay: min(max(2*before.delay, failures.FirstRecheck), failures.LastRecheck)}
	if p != nil {
		if before.problem != nil && before.problem.Reason == p.Reason {
			p.Message = before.problem.Message
		}
		p.Recheck = now.delay
		now.problem = failures.Newf(p.Reason, "%s", p.Message)
	}
	m.attempts.Set(patch, now, 2*failures.LastRecheck)
}
