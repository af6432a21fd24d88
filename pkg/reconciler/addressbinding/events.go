/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/transitions"
)

// Reasons of Normal events. Warnings carry the reason of the condition that
// became False.
const (
	// EventAddressResolved: an address that was missing is there.
	EventAddressResolved = "AddressResolved"

	// EventSubjectsBound: a subject that could not have its address now has it.
	EventSubjectsBound = "SubjectsBound"
)

// reported are the conditions whose changes are events. Intercepted is none of them: for the first binding of a kind it is
// False for a moment.
var reported = []transitions.Reported{{
	Condition: v1.AddressBindingConditionAddressResolved,
	Reason:    EventAddressResolved,
	Message:   "The AddressableService has an address again",
}, {
	Condition: v1.AddressBindingConditionSubjectsBound,
	Reason:    EventSubjectsBound,
	Message:   "Every subject has the address",
}}
