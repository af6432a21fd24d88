/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package knative serves lossless conversions in webhooks of knative.dev/pkg: it preserves and validates the annotation of package
// conversion by the context that SetDefaults and Validate receive, and exports the counters of that package with OpenTelemetry.
//
//	func (w *Widget) SetDefaults(ctx context.Context) {
//		if knative.IsConverting(ctx) {
//			return
//		}
//		knative.Preserve(ctx, conversionProperties, w)
//	}
//
// The conversion webhook is that of knative.dev/pkg, with WithConverting as the decorator of its context.
package knative
