/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"context"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/conversion"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on create and update; knative.dev/pkg also
// calls it after each conversion, which must add nothing.
func (as *AddressableService) SetDefaults(ctx context.Context) {
	if conversion.IsConverting(ctx) {
		return
	}
	conversionProperties.Preserve(ctx, as)
	as.Spec.SetDefaults(ctx)
	v1.SetMetadataDefaults(ctx, as)
}

// SetDefaults completes the spec.
func (s *AddressableServiceSpec) SetDefaults(context.Context) {
	if s.Exposure == "" {
		s.Exposure = ExposureInternal
	}
}
