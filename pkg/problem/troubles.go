/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package problem

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/pkg/since"
)

// Troubles remember for how long objects have had problems that are looked at again. Conditions do not tell it where an object may have
// several problems at a time, of which one is told, or one whose message is never the same. They may be used by several goroutines.
// Use NewTroubles.
type Troubles struct{ lasted *since.Memory[trouble] }

type trouble struct {
	object types.UID
	reason string
}

// NewTroubles returns a memory of no problem.
func NewTroubles() *Troubles { return NewTroublesWithClock(clock.RealClock{}) }

// NewTroublesWithClock is NewTroubles for tests that set the time.
func NewTroublesWithClock(clock clock.PassiveClock) *Troubles {
	// A problem that no pass has found for so long has ended.
	return &Troubles{since.NewWithClock[trouble](2*LastRecheck, clock)}
}

// Lasted notes that an object has a problem with this reason, and returns for how long it has had it.
func (t *Troubles) Lasted(object metav1.Object, reason string) time.Duration {
	return t.lasted.Lasted(trouble{object.GetUID(), reason})
}

// RecheckAfter is Lasted, and returns when to look again.
func (t *Troubles) RecheckAfter(object metav1.Object, reason string) time.Duration {
	return RecheckAfter(t.Lasted(object, reason))
}

// RecheckAfter is when to look again at a problem that has lasted for a while: after
// as long once more.
func RecheckAfter(lasted time.Duration) time.Duration {
	return min(max(lasted, FirstRecheck), LastRecheck)
}

// Lasted is how long a condition has been False for a reason, by what the last pass left of it: zero if it was not, so
// that the problem is new. A nil condition is one that was never marked.
func Lasted(last *apis.Condition, reason string) time.Duration {
	if !last.IsFalse() || last.Reason != reason {
		return 0
	}
	return time.Since(last.LastTransitionTime.Inner.Time)
}
