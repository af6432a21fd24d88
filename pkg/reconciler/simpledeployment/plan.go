/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// class is the class that a Pod counts as.
type class int

const (
	// active Pods run, or are about to.
	active class = iota
	// finished Pods have ended and will not start again.
	finished
	// terminating Pods are being deleted. They may still run for long, but do not count as desired.
	terminating
)

// pod holds the state of a Pod that a plan needs.
type pod struct {
	name string
	uid  types.UID
	// version is the resource version of the state that was looked at.
	version string
	slot    int
	class   class
	// current reports whether the Pod is of the present spec, ready whether it is ready.
	current, ready bool
	created        time.Time
	// ending is of a finished Pod.
	ending ending
}

// holdFinished is the time for which a terminated Pod holds its place. One that ends at once, as where no node takes it, would
// otherwise be replaced as fast as we can.
const holdFinished = 10 * time.Second

// surge is the number of active Pods that may exist beyond the desired ones.
const surge = 1

// plan holds the next steps. The next reconciliation plans those after them.
type plan struct {
	// remove are Pods to delete, in this order.
	remove []pod
	// create is the number of Pods to create once all of them are deleted.
	create int
	// again is after how long to look again, though nothing may have happened; 0 for never.
	again time.Duration
}

// counts holds the numbers of active Pods of each sort.
type counts struct{ active, current, ready int }

func count(pods []pod) counts {
	var c counts
	for _, p := range pods {
		if p.class != active {
			continue
		}
		c.active++
		if p.current {
			c.current++
		}
		if p.ready {
			c.ready++
		}
	}
	return c
}

// decide plans.
func decide(replicas int, pods []pod, now time.Time) plan {
	var p plan
	var rejected []pod
	held := 0
	for _, f := range pods {
		if f.class != finished {
			continue
		}
		if wait := holdFinished - now.Sub(f.ending.first); wait > 0 {
			held++
			if p.again == 0 || wait < p.again {
				p.again = wait
			}
		} else if f.ending.rejected {
			rejected = append(rejected, f)
		} else {
			p.remove = append(p.remove, f)
		}
	}
	// Only one rejection is met in each reconciliation, and must not keep the other Pods.
	p.remove = append(p.remove, rejected...)
	c := count(pods)
	for _, victim := range victims(replicas, pods, c) {
		p.remove = append(p.remove, victim)
		c.active--
		if victim.current {
			c.current--
		}
	}
	p.create = max(0, min(replicas-c.current, replicas+surge-c.active-held))
	return p
}

// victims are the active Pods to delete. A ready one is among them only if enough others are ready. The order depends on
// nothing but the Pods, so that the next leader chooses the same.
func victims(replicas int, pods []pod, c counts) []pod {
	spare := c.ready - replicas
	surplus := c.current - replicas
	var chosen []pod
	take := func(v pod) {
		chosen = append(chosen, v)
		if v.ready {
			spare--
		}
	}
	for _, v := range byAge(pods, func(p pod) bool { return !p.current && !p.ready }) {
		take(v)
	}
	for _, ready := range []bool{false, true} {
		youngest := byAge(pods, func(p pod) bool { return p.current && p.ready == ready })
		slices.Reverse(youngest)
		for _, v := range youngest {
			if surplus > 0 && (!ready || spare > 0) {
				take(v)
				surplus--
			}
		}
	}
	for _, v := range byAge(pods, func(p pod) bool { return !p.current && p.ready }) {
		if spare > 0 {
			take(v)
		}
	}
	return chosen
}

// byAge are the active Pods that meet a condition, the oldest first.
func byAge(pods []pod, meets func(pod) bool) []pod {
	var found []pod
	for _, p := range pods {
		if p.class == active && meets(p) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b pod) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.slot, b.slot), cmp.Compare(a.name, b.name))
	})
	return found
}

// freeSlot is the first slot that no Pod has, not even one that is terminating or finished: it may hang, and its replacement
// must not wait for that. taken are the slots whose names Pods have that do not count.
func freeSlot(pods []pod, taken map[int]bool) int {
	used := make(map[int]bool, len(pods))
	for _, p := range pods {
		used[p.slot] = true
	}
	slot := 0
	for used[slot] || taken[slot] {
		slot++
	}
	return slot
}
