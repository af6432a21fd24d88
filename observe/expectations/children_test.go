/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
)

// nursery is Expectations with the cache of children that it looks into, and a clock that stands still.
type nursery struct {
	*Expectations

	clock *testclock.FakePassiveClock
	cache []metav1.Object
}

func newNursery() *nursery {
	n := &nursery{clock: testclock.NewFakePassiveClock(time.Now())}
	n.Expectations = newWithClock(n.clock, func(owner metav1.Object) []metav1.Object {
		if owner.GetUID() != "one" {
			return nil
		}
		return n.cache
	})
	return n
}

// parent is the owner in these tests, and child an object that it owns.
var parent = at("1")

func child(version string, change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	return at(version, append(change, uid("child"), func(o *corev1.ConfigMap) {
		o.Name = "child"
		o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(parent, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	})...)
}

func TestChildren_Writes_AreBehindUntilCached(t *testing.T) {
	wrote := func(n *nursery) { n.Written(parent, child("10")) }
	deleted := func(n *nursery) { n.Deleted(parent, "child") }
	for name, tc := range map[string]struct {
		reason string
		did    func(*nursery)
		age    time.Duration
		cache  []metav1.Object
		want   bool
	}{
		"NothingWritten":   {reason: "Without a write every state is current.", cache: []metav1.Object{child("5")}},
		"NotThereYet":      {reason: "A plan would create it again.", did: wrote, want: true},
		"Older":            {reason: "The cache has it as it was before.", did: wrote, cache: []metav1.Object{child("9")}, want: true},
		"Arrived":          {reason: "The cache has it.", did: wrote, cache: []metav1.Object{child("10")}},
		"Newer":            {reason: "Another client has written since.", did: wrote, cache: []metav1.Object{child("11")}},
		"NoNumber":         {reason: "What cannot be compared must not stop anything.", did: wrote, cache: []metav1.Object{child("abc")}},
		"NoNumberAnswered": {reason: "The same.", did: func(n *nursery) { n.Written(parent, child("")) }, cache: []metav1.Object{child("9")}},
		"NotDeletedYet":    {reason: "A plan would count it.", did: deleted, cache: []metav1.Object{child("9")}, want: true},
		"Dying":            {reason: "The deletion has arrived.", did: deleted, cache: []metav1.Object{child("9", deleting())}},
		"Gone":             {reason: "The deletion has arrived, and its end.", did: deleted},
		"DeletedLast":      {reason: "Of two writes the last one counts.", did: func(n *nursery) { wrote(n); deleted(n) }},
		"TooLongAgo":       {reason: "An event that did not come for so long never will.", did: wrote, age: Patience},
		"StillPatient":     {reason: "The event may yet come.", did: wrote, age: Patience - time.Second, want: true},
		"CameAndWent":      {reason: "It left the cache before it was looked for there.", did: func(n *nursery) { wrote(n); n.Removed(child("11")) }},
		"AnotherWent":      {reason: "That is no news of this one.", did: func(n *nursery) { wrote(n); o := child("11"); o.UID = "other"; n.Removed(o) }, want: true},
		"Forgotten":        {reason: "The owner is deleted.", did: func(n *nursery) { wrote(n); n.Removed(parent) }},
		"Promoted":         {reason: "What was written in an earlier term says nothing.", did: func(n *nursery) { wrote(n); n.Promoted() }},
		"OwnerRecreated":   {reason: "Another owner of the same name has other children.", did: func(n *nursery) { n.Written(at("1", uid("two")), child("10")) }},
		"ReadAhead":        {reason: "The API server has a newer state than the cache.", did: func(n *nursery) { n.Read(parent, []metav1.Object{child("10")}) }, cache: []metav1.Object{child("9")}, want: true},
		"ReadDying":        {reason: "It left the cache before it was noted, and does not return.", did: func(n *nursery) { n.Read(parent, []metav1.Object{child("10", deleting())}) }},
		"ReadDyingUnseen":  {reason: "A plan would count it.", did: func(n *nursery) { n.Read(parent, []metav1.Object{child("10", deleting())}) }, cache: []metav1.Object{child("9")}, want: true},
		"ReadSame":         {reason: "The cache is right.", did: func(n *nursery) { n.Read(parent, []metav1.Object{child("9")}) }, cache: []metav1.Object{child("9")}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNursery()
			if tc.did != nil {
				tc.did(n)
			}
			n.cache = tc.cache
			n.clock.SetTime(n.clock.Now().Add(tc.age))
			if got := n.Behind(parent); got != tc.want {
				t.Errorf("Behind() = %t, want %t\nReason: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestChildren_DeletedOnTheServer_AreBehindUntilTheCacheLacksThem(t *testing.T) {
	n := newNursery()
	n.cache = []metav1.Object{child("9")}
	n.Read(parent, nil)
	if !n.Behind(parent) {
		t.Error("the cache has a child that the API server does not have, and is not behind")
	}
	n.cache = nil
	if n.Behind(parent) {
		t.Error("the cache is as the API server is, and behind")
	}
}

func TestChildren_UnknownResult_IsDoubtUntilRead(t *testing.T) {
	n := newNursery()
	if n.Doubtful(parent) || n.WasRead(parent) {
		t.Error("there is doubt, or there was a read, before anything happened")
	}
	if len(n.families) > 0 {
		t.Error("a query is remembered, and would be for every owner")
	}
	n.Doubt(parent)
	if !n.Doubtful(parent) || n.WasRead(parent) {
		t.Error("after a write without an answer there is no doubt")
	}
	if n.Doubtful(at("1", uid("two"))) {
		t.Error("the doubt is about another owner of the same name, too")
	}
	n.Read(parent, nil)
	if n.Doubtful(parent) || !n.WasRead(parent) {
		t.Error("after the children were read there is doubt still")
	}
	n.Promoted()
	if n.WasRead(parent) {
		t.Error("what was read in an earlier term is good in this one")
	}
}

func TestChildren_WriteNeverSeen_IsDoubt(t *testing.T) {
	n := newNursery()
	n.Written(parent, child("10"))
	n.clock.SetTime(n.clock.Now().Add(Patience))
	if n.Behind(parent) || !n.Doubtful(parent) {
		t.Errorf("after %v there is no doubt about the cache", Patience)
	}
}

func TestChildren_SeenInTheCache_AreForgotten(t *testing.T) {
	n := newNursery()
	n.Written(parent, child("10"))
	n.cache = []metav1.Object{child("10")}
	if n.Behind(parent) || len(n.families) > 0 {
		t.Errorf("it is remembered: %v", n.families)
	}
	n.Written(parent, child("11"))
	n.Removed(parent)
	if len(n.families) > 0 {
		t.Errorf("a deleted owner is remembered: %v", n.families)
	}
}
