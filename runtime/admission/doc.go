/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package admission serves the webhooks of a process. Those of knative.dev/pkg remove fields that a Go type does not have, reject
// wrong types before the schema can name the field, and fail requests when the process stops.
//
// [Default] and [Validate] take the place of the function that answers requests, and knative.dev/pkg registers the webhook as before:
//
//	impl := defaulting.NewAdmissionController(…)
//	return admission.Default(impl, newObject, store.ToContext)
//
// [Serve] is the HTTPS server. It authenticates the API server by package certificates.
package admission
