/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
)

const well = apis.ConditionType("Well")

var reported = []Reported{{Condition: well, Reason: "Recovered", Message: "It is well again"}}

// condition of type Well; the message is made from the reason.
func condition(status corev1.ConditionStatus, reason string) apis.Condition {
	return apis.Condition{Type: well, Status: status, Reason: reason, Message: "because of " + reason}
}

func TestBegin_Transitions_EmitsEvents(t *testing.T) {
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
			end := Begin(obj, reported)
			// As the manager of conditions does it: in place.
			obj.Status.Conditions = append(obj.Status.Conditions[:0], tc.after, other)
			if result := end(controller.WithEventRecorder(t.Context(), recorder)); result != nil {
				t.Errorf("without failures the result is %v", result)
			}
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

func TestBegin_TransientFailureBecomesUnknown_Ends(t *testing.T) {
	passing := []Reported{{Condition: well, Reason: "Recovered", Message: "It is well again", Passing: true}}
	for after, want := range map[apis.Condition]string{
		condition(corev1.ConditionTrue, ""):         "Normal Recovered It is well again",
		condition(corev1.ConditionUnknown, "Taken"): "Normal Recovered It is well again",
		condition(corev1.ConditionFalse, "Taken"):   "Warning Taken because of Taken",
	} {
		recorder := record.NewFakeRecorder(10)
		obj := &duckv1.KResource{Status: duckv1.Status{Conditions: duckv1.Conditions{condition(corev1.ConditionFalse, "Lost")}}}
		end := Begin(obj, passing)
		obj.Status.Conditions[0] = after
		_ = end(controller.WithEventRecorder(t.Context(), recorder))
		close(recorder.Events)
		if got := <-recorder.Events; got != want {
			t.Errorf("from False to %s: got event %q, want %q", after.Status, got, want)
		}
	}
}

func TestBegin_UnmarkedCondition_IsNoTransition(t *testing.T) {
	recorder := record.NewFakeRecorder(10)
	_ = Begin(&duckv1.KResource{}, reported)(controller.WithEventRecorder(t.Context(), recorder))
	if len(recorder.Events) > 0 {
		t.Errorf("there is event %q", <-recorder.Events)
	}
}

func TestBegin_Failures_DecideTheResult(t *testing.T) {
	errDown := errors.New("down")
	for name, tc := range map[string]struct {
		steps   []*Failure
		err     error
		requeue time.Duration
	}{
		"None":           {steps: []*Failure{nil, nil}},
		"Watched":        {steps: []*Failure{Newf("Gone", "it does not exist")}},
		"Recheck":        {steps: []*Failure{{Recheck: time.Minute}, {Recheck: time.Second}, nil}, requeue: time.Second},
		"Request":        {steps: []*Failure{nil, Failed("Down", errDown)}, err: errDown, requeue: RetryDelay},
		"RequestRecheck": {steps: []*Failure{{Recheck: time.Second}, Failed("Down", errDown), Failed("Late", context.Canceled)}, err: errDown, requeue: RetryDelay},
	} {
		t.Run(name, func(t *testing.T) {
			result := Begin(&duckv1.KResource{}, nil)(controller.WithEventRecorder(t.Context(), record.NewFakeRecorder(1)), tc.steps...)
			if _, after := controller.IsRequeueKey(result); after != tc.requeue || !errors.Is(result, tc.err) && tc.err != nil || result == nil && tc.requeue > 0 {
				t.Errorf("the result is %v, want %v after %s", result, tc.err, tc.requeue)
			}
		})
	}
}

func TestBegin_SameReasonWithAnotherText_KeepsTheMessageForFiveMinutes(t *testing.T) {
	for name, tc := range map[string]struct {
		age        time.Duration
		reason     string
		generation int64
		kept       bool
	}{
		"Repeated":      {age: time.Minute, reason: "Down", generation: 1, kept: true},
		"Old":           {age: steadyFor + time.Minute, reason: "Down", generation: 1},
		"OtherReason":   {age: time.Minute, reason: "Forbidden", generation: 1},
		"NewGeneration": {age: time.Minute, reason: "Down", generation: 2},
	} {
		t.Run(name, func(t *testing.T) {
			was := condition(corev1.ConditionFalse, "Down")
			was.LastTransitionTime = apis.VolatileTime{Inner: metav1.NewTime(time.Now().Add(-tc.age))}
			obj := &duckv1.KResource{ObjectMeta: metav1.ObjectMeta{Generation: tc.generation}, Status: duckv1.Status{ObservedGeneration: 1, Conditions: duckv1.Conditions{was}}}
			end := Begin(obj, reported)
			failure := Failed(tc.reason, fmt.Errorf("port %d is closed", 4711))
			obj.Status.Conditions[0].Reason, obj.Status.Conditions[0].Message = failure.Reason, failure.Message
			obj.Status.Conditions[0].LastTransitionTime = apis.VolatileTime{Inner: metav1.Now()}
			_ = end(controller.WithEventRecorder(t.Context(), record.NewFakeRecorder(1)), failure)
			if got := obj.Status.Conditions[0]; (got == was) != tc.kept {
				t.Errorf("the condition is %+v, was %+v", got, was)
			}
		})
	}
}

func TestFailure_Marked_IsAboutTheCluster(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "a", errors.New("changed"))
	for want, all := range map[bool][]*Failure{
		true:  {Newf("Gone", "it does not exist"), Failed("Down", errors.New("down"))},
		false: {nil, Failed("Down", fmt.Errorf("updating: %w", conflict)), Failed("Down", context.Canceled)},
	} {
		for _, f := range all {
			if f.Marked() != want {
				t.Errorf("Marked() of %+v is %t", f, !want)
			}
		}
	}
	if got := StatusCode(fmt.Errorf("updating: %w", conflict)); got != 409 {
		t.Errorf("the status code is %d", got)
	}
}
