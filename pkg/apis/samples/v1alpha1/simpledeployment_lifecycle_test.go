/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestSimpleDeployment_Marks_MakeItReady(t *testing.T) {
	type marks = []func(*SimpleDeploymentStatus)
	available := (*SimpleDeploymentStatus).MarkAvailable
	upToDate := (*SimpleDeploymentStatus).MarkUpToDate
	waits := func(s *SimpleDeploymentStatus) { s.MarkNotAvailable(ReasonWaitingForPods, "1 of 2, 100%") }
	rolls := func(s *SimpleDeploymentStatus) { s.MarkProgressing(ReasonRollingOut, "1 of 2, 100%") }
	stuck := func(s *SimpleDeploymentStatus) { s.MarkStuck(ReasonCreateFailed, "quota, 100%") }

	for name, tc := range map[string]struct {
		marks   marks
		status  corev1.ConditionStatus
		reason  string
		message string
	}{
		"nothing":                     {nil, corev1.ConditionUnknown, "", ""},
		"all well":                    {marks{available, upToDate}, corev1.ConditionTrue, "", ""},
		"rolls out, and is available": {marks{available, rolls}, corev1.ConditionUnknown, ReasonRollingOut, "1 of 2, 100%"},
		"rolls out, and is not":       {marks{waits, rolls}, corev1.ConditionUnknown, ReasonRollingOut, "1 of 2, 100%"},
		"stuck, and is available":     {marks{available, stuck}, corev1.ConditionFalse, ReasonCreateFailed, "quota, 100%"},
		"stuck, and is not":           {marks{waits, stuck}, corev1.ConditionFalse, ReasonCreateFailed, "quota, 100%"},
		"was stuck":                   {marks{waits, stuck, waits, rolls}, corev1.ConditionUnknown, ReasonRollingOut, "1 of 2, 100%"},
		"was stuck, and is well":      {marks{waits, stuck, available, upToDate}, corev1.ConditionTrue, "", ""},
		"was well, and rolls again":   {marks{available, upToDate, available, rolls}, corev1.ConditionUnknown, ReasonRollingOut, "1 of 2, 100%"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &SimpleDeploymentStatus{}
			simpleDeploymentConditionSet.Manage(&s.Status).InitializeConditions()
			for _, mark := range tc.marks {
				mark(s)
			}
			if got := s.GetCondition(apis.ConditionReady); got.Status != tc.status || got.Reason != tc.reason || got.Message != tc.message {
				t.Errorf("Ready is %s, %q, %q; want %s, %q, %q", got.Status, got.Reason, got.Message, tc.status, tc.reason, tc.message)
			}
		})
	}
}

func TestSimpleDeployment_LongMessages_FitTheSchema(t *testing.T) {
	long := strings.Repeat("ö", samples.MaxMessage+1)
	s := &SimpleDeploymentStatus{}
	s.MarkNotAvailable(ReasonWaitingForPods, long)
	s.MarkStuck(ReasonCreateFailed, long)
	for _, c := range s.Conditions {
		if got := len([]rune(c.Message)); got != samples.MaxMessage || !strings.HasSuffix(c.Message, "…") {
			t.Errorf("the message of %s has %d characters, want %d of which the last is an ellipsis", c.Type, got, samples.MaxMessage)
		}
	}
}
