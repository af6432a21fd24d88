/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/apis"
)

const (
	ready     = AddressableServiceConditionReady
	resolved  = AddressableServiceConditionTargetResolved
	published = AddressableServiceConditionPublished
)

// state holds the fields of a condition that the tests compare.
type state struct {
	Status  corev1.ConditionStatus
	Reason  string
	Message string
}

func statesOf(s *AddressableServiceStatus) map[apis.ConditionType]state {
	states := map[apis.ConditionType]state{}
	for _, c := range s.Conditions {
		states[c.Type] = state{c.Status, c.Reason, c.Message}
	}
	return states
}

func TestAddressableService_Marks_MakeItReady(t *testing.T) {
	type marks = []func(*AddressableServiceStatus)
	waits := func(s *AddressableServiceStatus) {
		s.MarkNotPublished(ReasonNoAddress, "there is no address to publish")
	}
	found := func(s *AddressableServiceStatus) { s.MarkTargetResolved(addressesOf("h")) }
	gone := func(s *AddressableServiceStatus) {
		s.MarkTargetNotResolved(ReasonTargetNotFound, "no such thing, 100%")
	}
	forbidden := func(s *AddressableServiceStatus) { s.MarkTargetUnknown(ReasonTargetForbidden, "forbidden, 100%") }
	taken := func(s *AddressableServiceStatus) { s.MarkNotPublished(ReasonAliasTaken, "by b, 100%") }
	isTrue := state{Status: corev1.ConditionTrue}
	unknown := state{Status: corev1.ConditionUnknown}
	isGone := state{corev1.ConditionFalse, ReasonTargetNotFound, "no such thing, 100%"}
	isForbidden := state{corev1.ConditionUnknown, ReasonTargetForbidden, "forbidden, 100%"}
	isTaken := state{corev1.ConditionFalse, ReasonAliasTaken, "by b, 100%"}
	notRequested := state{corev1.ConditionTrue, ReasonNotRequested, "spec.publish requests no alias"}
	noAddress := state{corev1.ConditionUnknown, ReasonNoAddress, "there is no address to publish"}

	for name, tc := range map[string]struct {
		reason string
		marks  marks
		want   map[apis.ConditionType]state
	}{
		"nothing yet": {
			reason: "every condition exists from the start",
			want:   map[apis.ConditionType]state{ready: unknown, resolved: unknown, published: unknown},
		},
		"resolved and published": {
			marks: marks{found, (*AddressableServiceStatus).MarkPublished},
			want:  map[apis.ConditionType]state{ready: isTrue, resolved: isTrue, published: isTrue},
		},
		"resolved, no alias requested": {
			reason: "an alias that is not requested blocks nothing",
			marks:  marks{found, (*AddressableServiceStatus).MarkNotRequested},
			want:   map[apis.ConditionType]state{ready: isTrue, resolved: isTrue, published: notRequested},
		},
		"resolved only": {
			marks: marks{found},
			want:  map[apis.ConditionType]state{ready: unknown, resolved: isTrue, published: unknown},
		},
		"not resolved, no alias requested": {
			marks: marks{gone, (*AddressableServiceStatus).MarkNotRequested},
			want:  map[apis.ConditionType]state{ready: isGone, resolved: isGone, published: notRequested},
		},
		"not resolved, alias waits": {
			reason: "the alias waits for the target, so Ready names what is at fault",
			marks:  marks{gone, waits},
			want:   map[apis.ConditionType]state{ready: isGone, resolved: isGone, published: noAddress},
		},
		"resolved, alias taken": {
			marks: marks{found, taken},
			want:  map[apis.ConditionType]state{ready: isTaken, resolved: isTrue, published: isTaken},
		},
		"both bad": {
			reason: "the target has precedence: without it the alias is useless",
			marks:  marks{gone, taken},
			want:   map[apis.ConditionType]state{ready: isGone, resolved: isGone, published: isTaken},
		},
		"not looked up, alias waits": {
			reason: "Ready names the target here as well",
			marks:  marks{forbidden, waits},
			want:   map[apis.ConditionType]state{ready: isForbidden, resolved: isForbidden, published: noAddress},
		},
		"not looked up, alias taken": {
			reason: "what is known to be wrong comes before what is unknown",
			marks:  marks{forbidden, taken},
			want:   map[apis.ConditionType]state{ready: isTaken, resolved: isForbidden, published: isTaken},
		},
		"not looked up, alias published": {
			marks: marks{forbidden, (*AddressableServiceStatus).MarkPublished},
			want:  map[apis.ConditionType]state{ready: isForbidden, resolved: isForbidden, published: isTrue},
		},
		"target is recreated": {
			marks: marks{gone, waits, found, (*AddressableServiceStatus).MarkPublished},
			want:  map[apis.ConditionType]state{ready: isTrue, resolved: isTrue, published: isTrue},
		},
		"target is recreated, alias still taken": {
			marks: marks{gone, taken, found, taken},
			want:  map[apis.ConditionType]state{ready: isTaken, resolved: isTrue, published: isTaken},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &AddressableServiceStatus{}
			s.manager().InitializeConditions()
			for _, mark := range tc.marks {
				mark(s)
			}
			if diff := cmp.Diff(tc.want, statesOf(s)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAddressableService_SeveralAddresses_FirstBecomesTheAddress(t *testing.T) {
	s := &AddressableServiceStatus{}
	addresses := addressesOf("first", "second")
	s.MarkTargetResolved(addresses)
	if diff := cmp.Diff(addresses, s.Addresses); diff != "" {
		t.Errorf("status.addresses (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(&addresses[0], s.Address); diff != "" {
		t.Errorf("status.address (-want, +got):\n%s", diff)
	}
	s.Address.URL.Host = "changed"
	if s.Addresses[0].URL.Host != "first" {
		t.Error("status.address and status.addresses share memory")
	}
}

func TestAddressableService_TargetNotFound_ClearsTheAddress(t *testing.T) {
	s := &AddressableServiceStatus{}
	s.MarkTargetResolved(addressesOf("first", "second"))
	s.MarkTargetNotResolved(ReasonTargetNotFound, "gone")
	if s.Address != nil || s.Addresses != nil {
		t.Errorf("address %v and addresses %v are left with Ready=False", s.Address, s.Addresses)
	}
}

func TestMarkNotPublished_AddressIsKept(t *testing.T) {
	s := &AddressableServiceStatus{}
	s.MarkTargetResolved(addressesOf("first"))
	s.MarkNotPublished(ReasonAliasTaken, "taken")
	if s.Address == nil || len(s.Addresses) != 1 {
		t.Error("the address works without its alias and must stay")
	}
}

func TestMarkTargetUnknown_AddressIsKnown_Stays(t *testing.T) {
	s := &AddressableServiceStatus{}
	s.MarkTargetResolved(addressesOf("first", "second"))
	s.MarkTargetUnknown(ReasonTargetUnavailable, "no answer")
	if s.Address == nil || len(s.Addresses) != 2 {
		t.Errorf("address %v and addresses %v are left, want all", s.Address, s.Addresses)
	}
	want := state{corev1.ConditionUnknown, ReasonTargetUnavailable, "no answer; status.address is the last known one"}
	if got := statesOf(s)[resolved]; got != want {
		t.Errorf("the condition is %+v, want %+v", got, want)
	}
}

func TestSetDirectories_OtherAnnotations_Stay(t *testing.T) {
	s := &AddressableServiceStatus{}
	s.Annotations = map[string]string{"other": "1"}
	for _, want := range [][]string{nil, {"a"}, {"a", "b"}, {"b"}} {
		s.SetDirectories(want)
		if got := s.Directories(); !slices.Equal(got, want) || s.Annotations["other"] != "1" {
			t.Errorf("the directories are %q, want %q; the annotations are %v", got, want, s.Annotations)
		}
	}
	s.MarkTargetNotResolved(ReasonTargetNotFound, "gone")
	if got := s.Directories(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("without an address the directories are %q", got)
	}
}
