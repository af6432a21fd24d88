/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"

	"knative.dev/pkg/apis"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on create and update. Subjects are in the
// binding's own namespace, which is written out for those who read the reference alone.
func (ab *AddressBinding) SetDefaults(ctx context.Context) {
	if !apis.IsInCreate(ctx) && !apis.IsInUpdate(ctx) || apis.GetUpdatedSubresource(ctx) != "" {
		return
	}
	if ab.Spec.Subject.Namespace == "" {
		ab.Spec.Subject.Namespace = ab.Namespace
	}
}
