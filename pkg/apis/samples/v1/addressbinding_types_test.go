/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"testing"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

func TestAddressBinding_Type_ImplementsItsDuckTypes(t *testing.T) {
	if err := duck.VerifyType(&AddressBinding{}, &duckv1.Conditions{}); err != nil {
		t.Error(err)
	}
	// Binding is its own full type.
	if err := duck.VerifyType(&AddressBinding{}, &duckv1.Binding{}); err != nil {
		t.Error(err)
	}
}
