/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestAddressBinding_Marks_MakeItReady(t *testing.T) {
	type marks = []func(*AddressBindingStatus)
	found := func(s *AddressBindingStatus) { s.MarkAddressResolved("http://h") }
	gone := func(s *AddressBindingStatus) { s.MarkAddressNotResolved(ReasonAddressNotFound, "no address, 100%") }
	unknown := func(s *AddressBindingStatus) { s.MarkAddressUnknown("not yet, 100%") }
	waits := func(s *AddressBindingStatus) { s.MarkBinding(ReasonNothingToBind, "no address to bind") }
	noSubjects := func(s *AddressBindingStatus) { s.MarkBinding(ReasonNoSubjects, "nothing, 100%") }
	taken := func(s *AddressBindingStatus) { s.MarkSubjectsNotBound(ReasonVariableTaken, "by b, 100%") }
	binding := func(s *AddressBindingStatus) { s.MarkBinding(ReasonBinding, "soon, 100%") }
	notAsked := func(s *AddressBindingStatus) { s.MarkNotIntercepted("no rule, 100%") }
	noKind := func(s *AddressBindingStatus) { s.MarkInterceptionUnknown() }

	for name, tc := range map[string]struct {
		reason string
		marks  marks
		want   state
		value  string
	}{
		"nothing yet":     {want: state{Status: corev1.ConditionUnknown}},
		"all well":        {marks: marks{found, (*AddressBindingStatus).MarkSubjectsBound, (*AddressBindingStatus).MarkIntercepted}, want: state{Status: corev1.ConditionTrue}, value: "http://h"},
		"on its way":      {marks: marks{found, binding, (*AddressBindingStatus).MarkIntercepted}, want: state{corev1.ConditionUnknown, ReasonBinding, "soon, 100%"}, value: "http://h"},
		"no address":      {reason: "subjects wait for it, so Ready names what is at fault", marks: marks{gone, waits, (*AddressBindingStatus).MarkIntercepted}, want: state{corev1.ConditionFalse, ReasonAddressNotFound, "no address, 100%"}},
		"address goes":    {reason: "a value must not contradict its condition", marks: marks{found, gone}, want: state{corev1.ConditionFalse, ReasonAddressNotFound, "no address, 100%"}},
		"address unknown": {reason: "only a positive answer takes the value away", marks: marks{found, unknown, (*AddressBindingStatus).MarkSubjectsBound, (*AddressBindingStatus).MarkIntercepted}, want: state{corev1.ConditionUnknown, ReasonAddressNotReady, "not yet, 100%"}, value: "http://h"},
		"no subjects":     {reason: "a selector that matches nothing is no success", marks: marks{found, noSubjects, (*AddressBindingStatus).MarkIntercepted}, want: state{corev1.ConditionUnknown, ReasonNoSubjects, "nothing, 100%"}, value: "http://h"},
		"taken":           {marks: marks{found, taken, (*AddressBindingStatus).MarkIntercepted}, want: state{corev1.ConditionFalse, ReasonVariableTaken, "by b, 100%"}, value: "http://h"},
		"all bad":         {reason: "the address has precedence: without it the rest is useless", marks: marks{gone, taken, notAsked}, want: state{corev1.ConditionFalse, ReasonAddressNotFound, "no address, 100%"}},
		"taken, no rule":  {reason: "what is comes before what is to come", marks: marks{found, taken, notAsked}, want: state{corev1.ConditionFalse, ReasonVariableTaken, "by b, 100%"}, value: "http://h"},
		"no rule":         {marks: marks{found, (*AddressBindingStatus).MarkSubjectsBound, notAsked}, want: state{corev1.ConditionFalse, ReasonNotIntercepted, "no rule, 100%"}, value: "http://h"},
		"kind is unknown": {marks: marks{found, taken, noKind}, want: state{corev1.ConditionFalse, ReasonVariableTaken, "by b, 100%"}, value: "http://h"},
		"all well again":  {marks: marks{gone, taken, notAsked, found, (*AddressBindingStatus).MarkSubjectsBound, (*AddressBindingStatus).MarkIntercepted}, want: state{Status: corev1.ConditionTrue}, value: "http://h"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &AddressBindingStatus{}
			s.manager().InitializeConditions()
			for _, mark := range tc.marks {
				mark(s)
			}
			c := s.GetCondition(AddressBindingConditionReady)
			if got := (state{c.Status, c.Reason, c.Message}); got != tc.want || s.Value != tc.value {
				t.Errorf("Ready is %+v and the value %q, want %+v and %q\nReason: %s", got, s.Value, tc.want, tc.value, tc.reason)
			}
		})
	}
}

func TestAddressBinding_LongMessages_FitTheSchema(t *testing.T) {
	s := &AddressBindingStatus{}
	long := strings.Repeat("ä", samples.MaxMessage+1)
	for _, mark := range []func(){
		func() { s.MarkAddressNotResolved("R", long) }, func() { s.MarkAddressUnknown(long) }, func() { s.MarkBinding("R", long) },
		func() { s.MarkSubjectsNotBound("R", long) }, func() { s.MarkNotIntercepted(long) }, func() { s.MarkInterceptionUnknown() },
	} {
		mark()
		for _, c := range s.Conditions {
			if n := len([]rune(c.Message)); n > samples.MaxMessage {
				t.Errorf("the message of %s has %d characters, want at most %d", c.Type, n, samples.MaxMessage)
			}
		}
	}
}
