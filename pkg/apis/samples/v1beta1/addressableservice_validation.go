/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"context"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Validate implements apis.Validatable. The validating webhook calls it on create and update. The schema has seen to
// the fields of this version; what they are together with those that it cannot show is for v1 to judge.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	if as.DeletionTimestamp != nil {
		return nil
	}
	errs := knative.Validate(ctx, conversionProperties, as)
	if apis.GetUpdatedSubresource(ctx) != "" {
		return errs
	}
	return errs.Also(v1.ValidateConverted(ctx, as))
}
