/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on create and update; elsewhere nothing is added.
// Subjects are in the binding's own namespace, which is written out for those who read the reference alone.
func (ab *AddressBinding) SetDefaults(ctx context.Context) {
	if !isAdmission(ctx, ab) {
		return
	}
	if ab.Spec.Subject.Namespace == "" {
		ab.Spec.Subject.Namespace = ab.Namespace
	}
	addFinalizer(ab, samples.AddressBindingFinalizerName)
}
