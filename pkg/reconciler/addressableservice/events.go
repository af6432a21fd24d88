/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/transitions"
)

// Reasons of Normal events. Warnings carry the reason of the condition that
// became False.
const (
	// EventTargetResolved: an address that was missing is there.
	EventTargetResolved = "TargetResolved"

	// EventPublished: an alias that could not be published now is.
	EventPublished = "Published"
)

// reported are the conditions whose changes are events.
var reported = []transitions.Reported{{
	Condition: v1.AddressableServiceConditionTargetResolved,
	Reason:    EventTargetResolved,
	Message:   "The reference leads to an address again",
}, {
	Condition: v1.AddressableServiceConditionPublished,
	Reason:    EventPublished,
	Message:   "The alias points to the address",
	// An alias in trouble may no longer be asked for.
	Quiet: []string{v1.ReasonNotRequested},
}}
