/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/freshness"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// Who takes a variable out of a subject again and again, as another operator may that owns it, gets it back ever later
// within these bounds.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// eventsTake is how long the event of a change may take before an object is believed to be as the cache has it.
const eventsTake = 5 * time.Second

// remembered is for how long what was seen of a binding or a subject counts if no pass sees it again.
const remembered = 2 * problem.LastRecheck

// fewest is how many writes are remembered before it is worth to look for old ones.
const fewest = 1000

// written remembers the subjects that we wrote to, as the API server answered, until the caches have them: otherwise a pass
// that follows at once would write them once more. (cache.MutationCache, which does the like, keeps a hundred objects.) It may
// be used by several goroutines.
type written struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[subjectKey]write
	// full is how many there may be before old ones are looked for.
	full int
}

type subjectKey struct {
	schema.GroupVersionResource
	types.NamespacedName
}

type write struct {
	object  binding.Object
	changes string
	at      time.Time
	// times is how often in a row these changes were made with less than the pause between.
	times int
}

// state is a state of a subject.
type state struct {
	subjectKey

	uid     types.UID
	version string
}

func newWritten() *written {
	return &written{clock: clock.RealClock{}, last: make(map[subjectKey]write), full: fewest}
}

func keyOf(resource schema.GroupVersionResource, object binding.Object) subjectKey {
	return subjectKey{resource, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}}
}

func stateOf(resource schema.GroupVersionResource, object binding.Object) state {
	return state{keyOf(resource, object), object.GetUID(), object.GetResourceVersion()}
}

// newest returns an object as a cache has it or, if that is older, as we wrote it. It is not to be changed.
func (w *written) newest(resource schema.GroupVersionResource, cached binding.Object) binding.Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[keyOf(resource, cached)]
	if !ok || last.object.GetUID() != cached.GetUID() || w.clock.Since(last.at) >= freshness.Patience {
		return cached
	}
	if order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), last.object.GetResourceVersion()); err != nil || order >= 0 {
		return cached
	}
	return last.object
}

// pause returns how long to wait before these changes are made to an object: they were made a moment ago, and somebody has
// undone them.
func (w *written) pause(resource schema.GroupVersionResource, object binding.Object, changes string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[keyOf(resource, object)]
	if !ok || last.object.GetUID() != object.GetUID() || last.changes != changes {
		return 0
	}
	return max(last.pause()-w.clock.Since(last.at), 0)
}

// pauseAfter is how long the pause is after the last write to an object.
func (w *written) pauseAfter(resource schema.GroupVersionResource, object binding.Object) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[keyOf(resource, object)].pause()
}

func (l write) pause() time.Duration { return min(firstPause<<min(l.times, 10), lastPause) }

// record notes what the API server answered to a patch that made these changes.
func (w *written) record(resource schema.GroupVersionResource, object binding.Object, changes string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	key := keyOf(resource, object)
	next := write{object: object, changes: changes, at: now}
	if last, ok := w.last[key]; ok && last.changes == changes && now.Sub(last.at) < 2*last.pause() {
		next.times = last.times + 1
	}
	w.last[key] = next
	if len(w.last) > w.full {
		maps.DeleteFunc(w.last, func(_ subjectKey, old write) bool { return now.Sub(old.at) > 2*lastPause })
		w.full = max(2*len(w.last), fewest)
	}
}
