/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// state returns an object of a UID at a resourceVersion.
func state(uid string, version int) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it", UID: types.UID(uid), ResourceVersion: strconv.Itoa(version)}}
}

// describe returns an event as text, such as "Updated a@1→a@2".
func describe(e Event[*corev1.Secret]) string {
	text := string(e.Type) + " "
	if e.Old != nil {
		text += fmt.Sprintf("%s@%s→", e.Old.UID, e.Old.ResourceVersion)
	}
	text += fmt.Sprintf("%s@%s", e.Object.UID, e.Object.ResourceVersion)
	if e.InInitialList {
		text += " listed"
	}
	if e.FinalStateUnknown {
		text += " unknown"
	}
	if e.Folded != 1 {
		text += fmt.Sprintf(" ×%d", e.Folded)
	}
	return text
}

// deliverAll delivers what is pending.
func deliverAll(r *record[*corev1.Secret]) (events []string) {
	for {
		e, ok := r.begin()
		if !ok {
			return events
		}
		r.end(e, true)
		events = append(events, describe(e))
	}
}

func TestRecord_ChangesWhilePending_AreFolded(t *testing.T) {
	type secret = record[*corev1.Secret]
	set := func(uid string, version int) func(*secret) {
		return func(r *secret) { r.set(state(uid, version), false) }
	}
	listed := func(uid string, version int) func(*secret) {
		return func(r *secret) { r.set(state(uid, version), true) }
	}
	remove := func(uid string, version int) func(*secret) {
		return func(r *secret) { r.remove(state(uid, version), false) }
	}
	missed := func(uid string, version int) func(*secret) {
		return func(r *secret) { r.remove(state(uid, version), true) }
	}
	known := []func(*secret){set("a", 1)}
	for name, tc := range map[string]struct {
		known, changes []func(*secret)
		want           string
	}{
		"nothing":                              {want: ""},
		"Added":                                {changes: []func(*secret){set("a", 1)}, want: "Added a@1"},
		"Added in the initial list":            {changes: []func(*secret){listed("a", 1)}, want: "Added a@1 listed"},
		"Added, Updated":                       {changes: []func(*secret){set("a", 1), set("a", 2)}, want: "Added a@2 ×2"},
		"listed, Updated":                      {changes: []func(*secret){listed("a", 1), set("a", 2)}, want: "Added a@2 listed ×2"},
		"Added, Deleted":                       {changes: []func(*secret){set("a", 1), remove("a", 2)}, want: ""},
		"Added, Deleted, Added":                {changes: []func(*secret){set("a", 1), remove("a", 2), set("b", 3)}, want: "Added b@3"},
		"Updated":                              {known: known, changes: []func(*secret){set("a", 2)}, want: "Updated a@1→a@2"},
		"Updated, Updated":                     {known: known, changes: []func(*secret){set("a", 2), set("a", 3)}, want: "Updated a@1→a@3 ×2"},
		"Deleted":                              {known: known, changes: []func(*secret){remove("a", 2)}, want: "Deleted a@1→a@2"},
		"missed deletion":                      {known: known, changes: []func(*secret){missed("a", 1)}, want: "Deleted a@1→a@1 unknown"},
		"Updated, Deleted":                     {known: known, changes: []func(*secret){set("a", 2), remove("a", 3)}, want: "Deleted a@1→a@3 ×2"},
		"Deleted, Added":                       {known: known, changes: []func(*secret){remove("a", 2), set("b", 3)}, want: "Deleted a@1→a@2, Added b@3"},
		"Deleted, Added, Updated":              {known: known, changes: []func(*secret){remove("a", 2), set("b", 3), set("b", 4)}, want: "Deleted a@1→a@2, Added b@4 ×2"},
		"Deleted, Added, Deleted":              {known: known, changes: []func(*secret){remove("a", 2), set("b", 3), remove("b", 4)}, want: "Deleted a@1→a@2"},
		"Deleted, Added, Deleted, Added":       {known: known, changes: []func(*secret){remove("a", 2), set("b", 3), remove("b", 4), set("c", 5)}, want: "Deleted a@1→a@2, Added c@5"},
		"Updated with a new UID":               {known: known, changes: []func(*secret){set("b", 3)}, want: "Deleted a@1→a@1 unknown, Added b@3"},
		"Added, Updated with a new UID":        {changes: []func(*secret){set("a", 1), set("b", 3)}, want: "Added b@3"},
		"deletion of an object that is unseen": {changes: []func(*secret){remove("a", 1)}, want: ""},
		"deletion of an object before it":      {known: known, changes: []func(*secret){remove("z", 1)}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r secret
			for _, change := range tc.known {
				change(&r)
			}
			deliverAll(&r)
			for _, change := range tc.changes {
				change(&r)
			}
			if got := strings.Join(deliverAll(&r), ", "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if r.isPending() {
				t.Error("an event is pending after all were delivered")
			}
		})
	}
}

func TestRecord_FailedCall_IsRepeatedWithWhatChangedSince(t *testing.T) {
	for label, tc := range map[string]struct {
		known, during func(*record[*corev1.Secret])
		want          string
	}{
		"Added, nothing":      {want: "Added a@2"},
		"Added, Updated":      {during: func(r *record[*corev1.Secret]) { r.set(state("a", 3), false) }, want: "Added a@3 ×2"},
		"Added, Deleted":      {during: func(r *record[*corev1.Secret]) { r.remove(state("a", 3), false) }, want: ""},
		"Added, Deleted, new": {during: func(r *record[*corev1.Secret]) { r.remove(state("a", 3), false); r.set(state("b", 4), false) }, want: "Added b@4 ×2"},
		"Updated, Updated": {
			known:  func(r *record[*corev1.Secret]) { r.set(state("a", 1), false) },
			during: func(r *record[*corev1.Secret]) { r.set(state("a", 3), false) }, want: "Updated a@1→a@3 ×2",
		},
		"Updated, Deleted": {
			known:  func(r *record[*corev1.Secret]) { r.set(state("a", 1), false) },
			during: func(r *record[*corev1.Secret]) { r.remove(state("a", 3), false) }, want: "Deleted a@1→a@3 ×2",
		},
	} {
		t.Run(label, func(t *testing.T) {
			var r record[*corev1.Secret]
			if tc.known != nil {
				tc.known(&r)
				deliverAll(&r)
			}
			r.set(state("a", 2), false)
			event, ok := r.begin()
			if !ok {
				t.Fatal("there is nothing to deliver")
			}
			if tc.during != nil {
				tc.during(&r)
			}
			r.end(event, false)
			if got := strings.Join(deliverAll(&r), ", "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// cluster changes one name at random, and calls an observer with what a record has for it.
type cluster struct {
	random       *rand.Rand
	record       record[*corev1.Secret]
	live         *corev1.Secret
	version, uid int
	calling      *Event[*corev1.Secret]
	// announced is the UID that the observer knows, at a version.
	announced string
	at        int
}

// write creates the object, or updates it.
func (c *cluster) write() {
	if c.live == nil {
		c.uid++
	}
	c.live = state(strconv.Itoa(c.uid), c.version)
	c.record.set(c.live, false)
}

// remove deletes the object. If the deletion is missed, the next state has another UID.
func (c *cluster) remove(missed bool) {
	if !missed && c.live != nil {
		c.record.remove(c.live, c.random.IntN(2) == 0)
	}
	c.live = nil
}

func (c *cluster) call() bool {
	e, ok := c.record.begin()
	if ok {
		c.calling = &e
	}
	return ok
}

// finish ends the call, and checks the event against what the observer knows.
func (c *cluster) finish(t *testing.T, delivered bool) {
	t.Helper()
	e := *c.calling
	c.calling = nil
	c.record.end(e, delivered)
	if !delivered {
		return
	}
	uid, version := string(e.Object.UID), versionOf(e.Object)
	switch {
	case e.Type == Added && c.announced == "":
		c.announced = uid
	case e.Type == Updated && c.announced == uid && version > c.at:
	case e.Type == Deleted && c.announced == uid:
		c.announced = ""
	default:
		t.Fatalf("after %q at version %d the observer received %s", c.announced, c.at, describe(e))
	}
	c.at = version
}

func (c *cluster) step(t *testing.T) {
	t.Helper()
	c.version++
	switch n := c.random.IntN(6); {
	case n == 0:
		c.remove(false)
	case n == 1:
		c.remove(true)
		c.write()
	case n <= 3:
		c.write()
	case c.calling != nil:
		c.finish(t, c.random.IntN(3) > 0)
	default:
		c.call()
	}
}

// TestRecord_RandomSchedule_OneDeletedForEachAdded changes one name at random while calls succeed and fail at random.
func TestRecord_RandomSchedule_OneDeletedForEachAdded(t *testing.T) {
	const steps = 60
	random := rand.New(rand.NewPCG(seed(t), 0))
	for range 10 * testrand.Inputs(t) {
		c := &cluster{random: random}
		for range steps {
			c.step(t)
		}
		for c.calling != nil || c.call() {
			c.finish(t, true)
		}
		want := ""
		if c.live != nil {
			want = string(c.live.UID)
		}
		if c.announced != want || c.live != nil && c.at != versionOf(c.live) {
			t.Fatalf("at the end the observer knows %q at version %d, want %q", c.announced, c.at, want)
		}
		if c.record.isEmpty() != (c.live == nil) {
			t.Fatalf("the record is empty: %t, although an object exists: %t", c.record.isEmpty(), c.live != nil)
		}
	}
}

func versionOf(object *corev1.Secret) (version int) {
	_, _ = fmt.Sscan(object.ResourceVersion, &version)
	return version
}
