/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"

	"knative.dev/pkg/apis"
)

// Validate implements apis.Validatable. The validating webhook calls it on create and update. It holds what the schema
// cannot say of a type that is knative.dev/pkg's.
func (ab *AddressBinding) Validate(ctx context.Context) *apis.FieldError {
	if apis.GetUpdatedSubresource(ctx) != "" || ab.DeletionTimestamp != nil {
		return nil
	}
	return ab.Spec.Subject.Validate(ctx).ViaField("spec.subject")
}
