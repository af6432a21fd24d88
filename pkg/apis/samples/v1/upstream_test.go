/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"testing"

	"knative.dev/pkg/apis"
)

// classError writes its path out because of this.
func TestUpstream_DotsInAKey_AreTakenForFields(t *testing.T) {
	err := apis.ErrInvalidValue("x", apis.CurrentField).ViaKey("a.b/c").ViaField("annotations")
	if got := err.Paths[0]; got == "annotations[a.b/c]" {
		t.Error("ViaKey of knative.dev/pkg leaves keys with dots whole now; classError may use it")
	}
}
