/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controllerruntime serves lossless conversions in webhooks of controller-runtime. It preserves and validates the annotation of
// package conversion, for types that assign-gen generates with --interface=controller-runtime:
//
//	ctrl.NewWebhookManagedBy(mgr, &v1.Widget{}).
//		WithDefaulter(&controllerruntime.Defaulter[*v1.Widget]{}).
//		WithValidator(&controllerruntime.Validator[*v1.Widget]{}).
//		Complete()
//
// Complete also serves the conversion webhook, which calls the generated methods. Each version needs a separate defaulting and validating webhook
// with matchPolicy: Exact, since the content of the annotation depends on the version.
//
// The counters of package conversion are in controller-runtime's metrics.Registry.
package controllerruntime
