/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"context"

	"knative.dev/pkg/apis"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Validate implements apis.Validatable. The validating webhook calls it on create and update. The schema has seen to
// the fields of this version; what they are together with those that it cannot show is for v1 to judge.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	return v1.ValidateConverted(ctx, as)
}
