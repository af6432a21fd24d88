/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
)

const well = apis.ConditionType("Well")

var reported = []Reported{{Condition: well, Reason: "Recovered", Message: "It is well again", Quiet: []string{"NotRequested"}}}

// condition of type Well; the message is made from the reason.
func condition(status corev1.ConditionStatus, reason string) apis.Condition {
	return apis.Condition{Type: well, Status: status, Reason: reason, Message: "because of " + reason}
}

func TestRecord_Transitions_EmitsEvents(t *testing.T) {
	yes, no, unknown := corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	for name, tc := range map[string]struct {
		reason string
		before []apis.Condition
		after  apis.Condition
		want   []string
	}{
		"WellFromTheStart": {reason: "With many objects it would double the writes.", after: condition(yes, "")},
		"StaysWell":        {reason: "Nothing changed.", before: []apis.Condition{condition(yes, "")}, after: condition(yes, "")},
		"NotKnownYet":      {reason: "It is not known yet.", before: []apis.Condition{condition(unknown, "")}, after: condition(yes, "")},
		"IsOnItsWay":       {reason: "That is no failure.", before: []apis.Condition{condition(no, "Lost")}, after: condition(unknown, "Coming")},
		"FailureAtOnce":    {reason: "A user may want to act.", after: condition(no, "Lost"), want: []string{"Warning Lost because of Lost"}},
		"FailureBegins":    {reason: "A user may want to act.", before: []apis.Condition{condition(yes, "")}, after: condition(no, "Lost"), want: []string{"Warning Lost because of Lost"}},
		"FailureStays":     {reason: "An event was emitted.", before: []apis.Condition{condition(no, "Lost")}, after: condition(no, "Lost")},
		"OtherTrouble":     {reason: "What helped against the first does not help now.", before: []apis.Condition{condition(no, "Lost")}, after: condition(no, "Taken"), want: []string{"Warning Taken because of Taken"}},
		"FailureEnds":      {reason: "No user needs to act any more.", before: []apis.Condition{condition(no, "Lost")}, after: condition(yes, ""), want: []string{"Normal Recovered It is well again"}},
		"NoLongerAskedFor": {reason: "Nothing has recovered.", before: []apis.Condition{condition(no, "Lost")}, after: condition(yes, "NotRequested")},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := record.NewFakeRecorder(10)
			// A condition without reported events fails all the time.
			other := apis.Condition{Type: "Other", Status: no, Reason: "Ignored"}
			obj := &duckv1.KResource{Status: duckv1.Status{Conditions: append(duckv1.Conditions{}, tc.before...)}}
			recordEvents := BeginEvents(obj, reported)
			// As the manager of conditions does it: in place.
			obj.Status.Conditions = append(obj.Status.Conditions[:0], tc.after, other)
			recordEvents(controller.WithEventRecorder(t.Context(), recorder))
			close(recorder.Events)
			var got []string
			for event := range recorder.Events {
				got = append(got, event)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("the events are %q, want %q\nReason: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestRecord_TransientFailureBecomesUnknown_Ends(t *testing.T) {
	passing := []Reported{{Condition: well, Reason: "Recovered", Message: "It is well again", Passing: true}}
	for status, want := range map[corev1.ConditionStatus]string{
		corev1.ConditionTrue:    "Normal Recovered It is well again",
		corev1.ConditionUnknown: "Normal Recovered It is well again",
		corev1.ConditionFalse:   "Warning Taken because of Taken",
	} {
		recorder := record.NewFakeRecorder(10)
		obj := &duckv1.KResource{Status: duckv1.Status{Conditions: duckv1.Conditions{condition(corev1.ConditionFalse, "Lost")}}}
		recordEvents := BeginEvents(obj, passing)
		obj.Status.Conditions[0] = condition(status, "Taken")
		recordEvents(controller.WithEventRecorder(t.Context(), recorder))
		close(recorder.Events)
		if got := <-recorder.Events; got != want {
			t.Errorf("from False to %s: got event %q, want %q", status, got, want)
		}
	}
}

func TestRecord_UnmarkedCondition_IsNoTransition(t *testing.T) {
	recorder := record.NewFakeRecorder(10)
	BeginEvents(&duckv1.KResource{}, reported)(controller.WithEventRecorder(t.Context(), recorder))
	if len(recorder.Events) > 0 {
		t.Errorf("there is event %q", <-recorder.Events)
	}
}
