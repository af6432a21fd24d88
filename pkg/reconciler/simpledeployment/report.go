/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"fmt"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// EventRecovered is the reason of the Normal event that reports the end of a failure: UpToDate is no longer False. Creation and deletion of
// Pods emit no events, because the Pods have their own.
const EventRecovered = "Recovered"

// reported are the conditions whose changes are events.
var reported = []failures.Reported{{
	Condition: v1alpha1.SimpleDeploymentConditionUpToDate,
	Reason:    EventRecovered,
	Message:   "No longer blocked; reconciling Pods",
	Passing:   true,
}}

// report writes to the status how far the object is.
func (r *reconciliation) report(stuck *failures.Failure) {
	c, s := count(r.pods), &r.sd.Status
	s.Replicas, s.UpdatedReplicas, s.ReadyReplicas = int32(c.active), int32(c.current), int32(c.ready) //nolint:gosec // Pods of one object
	s.Selector = selectorOf(r.sd)

	ready := fmt.Sprintf("%d of %d Pods are ready", c.ready, r.replicas)
	if c.ready >= r.replicas {
		s.MarkAvailable()
	} else {
		s.MarkNotAvailable(v1alpha1.ReasonWaitingForPods, ready)
	}
	switch {
	case stuck.Marked():
		s.MarkStuck(stuck.Reason, stuck.Message)
	case c.active > c.current:
		s.MarkProgressing(v1alpha1.ReasonRollingOut,
			fmt.Sprintf("%d of %d Pods are updated, %d outdated remain", c.current, r.replicas, c.active-c.current))
	case c.current > r.replicas:
		s.MarkProgressing(v1alpha1.ReasonScalingDown, fmt.Sprintf("%d Pods exist, want %d", c.current, r.replicas))
	case c.current < r.replicas || c.ready < r.replicas:
		s.MarkProgressing(v1alpha1.ReasonWaitingForPods, ready)
	default:
		s.MarkUpToDate()
	}
}
