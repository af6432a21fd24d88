/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"container/list"

	"k8s.io/client-go/tools/cache"
)

// record holds, for one object, the state that an observer received last and the changes that it has not received yet. These are at
// most two: a deletion, and the state of an object that was created under the same name since. A queue of events would grow with their
// rate; this does not. The zero value is that of an object without notifications.
type record[T Object] struct {
	name cache.ObjectName
	// delivered is the state that the observer received last, if it knows of the object, and seen the one that it last received or did not want.
	delivered, seen T
	announced       bool
	// gone is a Deleted that is pending, or nil. It is set only if the observer knows of the object, or is being called with its Added.
	gone *Event[T]

	// now is the current state of the object, if it exists.
	now    T
	exists bool
	// changed reports whether now is pending.
	changed bool
	// listed reports whether the object was in the initial list.
	listed bool
	// ahead reports whether now is from a cache, so that the notifications of its changes may follow.
	ahead bool
	// folded is the number of notifications since the observer received a state.
	folded int

	// calling is the type of the event that the observer is being called with, or empty.
	calling Type
	// delayed reports whether the queue delivers the object again by itself, after a failure.
	delayed bool
	// waiting is the place of the object among those that wait, or nil.
	waiting *list.Element
}

// isOutdated reports whether a notification led to the state of a cache that is known already. Resource versions do not show it: after a restore of etcd
// they are lower than before. But each update begins at the state at which the one before it ended.
func (r *record[T]) isOutdated(before any, after T) bool {
	if r.ahead {
		old, ok := before.(T)
		r.ahead = !r.isNow(after) && !(ok && r.isNow(old))
	}
	return r.ahead
}

func (r *record[T]) isNow(object T) bool {
	return r.now.GetUID() == object.GetUID() && r.now.GetResourceVersion() == object.GetResourceVersion()
}

// set takes the state of an object that exists. A state with another UID means that the deletion of the object before it was missed.
func (r *record[T]) set(object T, listed bool) {
	if r.exists && r.now.GetUID() != object.GetUID() {
		r.remove(r.now, true)
	}
	if !r.exists {
		r.listed = listed
	}
	r.now, r.exists, r.changed = object, true, true
	r.folded++
}

// remove takes the last known state of an object that does not exist any more. An object that the observer does not know is forgotten, and
// so is the deletion of one before it.
func (r *record[T]) remove(last T, unknown bool) {
	if !r.exists || r.now.GetUID() != last.GetUID() {
		return
	}
	if (r.announced || r.calling == Added) && r.gone == nil {
		r.gone = &Event[T]{Type: Deleted, Object: last, FinalStateUnknown: unknown, Folded: r.folded + 1}
	}
	var none T
	r.now, r.exists, r.changed, r.listed, r.ahead, r.folded = none, false, false, false, false, 0
}

// isPending reports whether there is an event to be delivered.
func (r *record[T]) isPending() bool { return r.gone != nil || r.exists && r.changed }

// isReady reports whether the observer should be called with an event now.
func (r *record[T]) isReady() bool { return r.isPending() && r.calling == "" && !r.delayed }

// isEmpty reports whether the record holds nothing that an empty one does not.
func (r *record[T]) isEmpty() bool { return !r.announced && !r.exists && r.calling == "" }

// begin returns the next event to deliver, if there is one. The observer may be called with it until end.
func (r *record[T]) begin() (event Event[T], ok bool) {
	switch {
	case r.gone != nil:
		event = *r.gone
	case !r.exists || !r.changed:
		return event, false
	default:
		event = Event[T]{Type: Updated, Object: r.now, Resync: r.announced && isResync(r.seen, r.now), Folded: r.folded}
		if !r.announced {
			event.Type, event.InInitialList = Added, r.listed
		}
		r.changed, r.folded = false, 0
	}
	event.Name, event.Old = r.name, r.delivered
	r.calling = event.Type
	return event, true
}

// skip records that the observer does not want the event of the last begin. The next event is a change from the state that the observer
// received before. It receives creations and deletions in any case.
func (r *record[T]) skip(event Event[T]) {
	if event.Type != Updated {
		r.end(event, true)
		return
	}
	r.calling, r.seen = "", event.Object
	r.folded += event.Folded
}

// end takes whether the event of the last begin was delivered. An event that was not delivered is pending again, merged with later changes.
func (r *record[T]) end(event Event[T], delivered bool) {
	r.calling = ""
	switch {
	case delivered && event.Type == Deleted:
		var none T
		r.delivered, r.seen, r.announced, r.gone = none, none, false, nil
	case delivered:
		r.delivered, r.seen, r.announced = event.Object, event.Object, true
	case event.Type == Deleted:
		// It is pending still.
	case r.gone != nil && r.announced:
		r.gone.Folded += event.Folded
	default:
		// The deletion of an object of which the observer does not know is no news.
		r.gone = nil
		if r.exists {
			r.changed = true
			r.folded += event.Folded
		}
	}
}
