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
	// version is the resourceVersion of the state that was observed.
	version string
	class   class
	// current reports whether the Pod is of the present spec, ready whether it is ready.
	current, ready bool
	created        time.Time
	// ended is the time at which a finished Pod ended, or at which a terminating one should have.
	ended time.Time
}

// holdEnded is the time for which a Pod that has ended holds its place. One that ends at once, as where no node takes it, would otherwise be
// replaced as fast as we can.
const holdEnded = 10 * time.Second

// surge is the number of Pods that may exist beyond the desired ones.
const surge = 1

// plan holds the next steps. The next reconciliation plans those after them.
type plan struct {
	// remove are Pods to delete, in this order.
	remove []*pod
	// missing is the number of Pods to create once all of them are deleted, room the number that may be.
	missing, room int
	// again is after how long to look again, though nothing may have happened; 0 for never.
	again time.Duration
}

// counts holds the numbers of active Pods of each sort.
type counts struct{ active, current, ready int }

func count(pods []*pod) counts {
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

// decide plans. Each Pod that exists holds a place, of which there are as many as Pods are desired and the surge, so that there are as many
// names. A process whose cache lacks Pods, or has some that no longer exist, finds no other name, and creates no Pod too many.
func decide(replicas int, pods []*pod, now time.Time) plan {
	c := count(pods)
	p := plan{missing: replicas - c.current, room: replicas + surge - c.active}
	for _, e := range pods {
		wait := holdEnded - now.Sub(e.ended)
		switch {
		case e.class == active:
		case wait > 0:
			p.room--
			if p.again == 0 || wait < p.again {
				p.again = wait
			}
		case e.class == finished:
			p.room--
			p.remove = append(p.remove, e)
		default:
			// It hangs, perhaps on a node that is lost, and its replacement must not wait for that.
		}
	}
	p.remove = append(p.remove, victims(replicas, pods, c)...)
	return p
}

// victims are the active Pods to delete. A ready one is among them only if enough others are ready. The order depends on
// nothing but the Pods, so that the next leader chooses the same.
func victims(replicas int, pods []*pod, c counts) (chosen []*pod) {
	spare, surplus := c.ready-replicas, c.current-replicas
	for _, v := range slices.SortedFunc(slices.Values(pods), byOrder) {
		if v.class != active || v.ready && spare <= 0 || v.current && surplus <= 0 {
			continue
		}
		chosen = append(chosen, v)
		if v.ready {
			spare--
		}
		if v.current {
			surplus--
		}
	}
	return chosen
}

// order is that of deletions, by whether Pods are current and ready. Among equals, the youngest current one and the oldest outdated one is first.
var order = map[[2]bool]int{{false, false}: 0, {true, false}: 1, {true, true}: 2, {false, true}: 3}

func byOrder(a, b *pod) int {
	age := cmp.Or(a.created.Compare(b.created), cmp.Compare(a.name, b.name))
	if a.current {
		age = -age
	}
	return cmp.Or(cmp.Compare(order[[2]bool{a.current, a.ready}], order[[2]bool{b.current, b.ready}]), age)
}
