/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package certificates keeps the serving certificate of a webhook in a Secret, and renews it without a failed request:
//
//	                 a day before it ends                      every API server knows both CAs
//	serving A (CA A) --------------------> serving A (CA A, B) ------------------------------> serving B (CA A, B)
//
// The leader writes the Secret ([NewController]); the controllers of the webhook configurations and CRDs, which [Registered] names,
// copy its CAs. Every replica is ready only once the API server can reach it, and serves by [Keys].
//
// It replaces knative.dev/pkg/webhook/certificates, which replaces certificate and CA at once. See docs/adr/0007.
package certificates
