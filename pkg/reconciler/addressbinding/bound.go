/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// settle is for how long a variable has to be nowhere before it is given up as ours: a replica of the webhook, which sees
// bindings a moment later than we do, may still be giving it to a new object.
const settle = 5 * time.Second

// wantedEntry is what status.bound has to list before a subject may have the present value, nil without one.
func wantedEntry(ab *v1.AddressBinding) *v1.BoundVariable {
	if ab.Status.Value == "" {
		return nil
	}
	return &v1.BoundVariable{
		APIVersion: ab.Spec.Subject.APIVersion, Kind: ab.Spec.Subject.Kind, Name: ab.Spec.Variable, Value: ab.Status.Value,
	}
}

// sameVariable is whether two entries are about the same variable, at whichever version its kind is named.
func sameVariable(a, b v1.BoundVariable) bool {
	return binding.KindOf(a.APIVersion, a.Kind) == binding.KindOf(b.APIVersion, b.Kind) && a.Name == b.Name && a.Value == b.Value
}

// withEntry returns the list with an entry, and whether it had it before. The version of one that it had becomes that of the
// entry, which is the one that the spec asks for.
func withEntry(bound []v1.BoundVariable, entry v1.BoundVariable) ([]v1.BoundVariable, bool) {
	i := slices.IndexFunc(bound, func(b v1.BoundVariable) bool { return sameVariable(b, entry) })
	if i < 0 {
		return append(bound, entry), false
	}
	bound[i] = entry
	return bound, true
}

// coveredByOther is whether another binding that stays wants the same variable, so that it is looked after. Of two that go
// neither covers the other.
func coveredByOther(entry v1.BoundVariable, self types.UID, all []*v1.AddressBinding) bool {
	return slices.ContainsFunc(all, func(other *v1.AddressBinding) bool {
		if other.UID == self || other.DeletionTimestamp != nil {
			return false
		}
		wanted := wantedEntry(other)
		return wanted != nil && sameVariable(*wanted, entry) &&
			slices.ContainsFunc(other.Status.Bound, func(b v1.BoundVariable) bool { return sameVariable(b, entry) })
	})
}

// unused remembers since when entries of status.bound were seen to be of no use. It is forgotten with the process, and then
// begins anew. It may be used by several goroutines.
type unused struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	since map[types.UID]map[v1.BoundVariable]time.Time
}

func newUnused() *unused {
	return &unused{clock: clock.RealClock{}, since: make(map[types.UID]map[v1.BoundVariable]time.Time)}
}

// seen notes whether an entry of a binding was found to be of use, and returns after which time it may be given up: zero for
// now.
func (u *unused) seen(uid types.UID, entry v1.BoundVariable, used bool) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if used {
		delete(u.since[uid], entry)
		return settle
	}
	since, ok := u.since[uid][entry]
	if !ok {
		if u.since[uid] == nil {
			u.since[uid] = make(map[v1.BoundVariable]time.Time)
		}
		since = u.clock.Now()
		u.since[uid][entry] = since
	}
	return max(settle-u.clock.Since(since), 0)
}

// gaveUp forgets an entry that is no longer listed.
func (u *unused) gaveUp(uid types.UID, entry v1.BoundVariable) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if delete(u.since[uid], entry); len(u.since[uid]) == 0 {
		delete(u.since, uid)
	}
}

// forget forgets a binding.
func (u *unused) forget(uid types.UID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.since, uid)
}
