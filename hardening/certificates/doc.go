/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package certificates keeps the serving certificate of a webhook in a Secret, and renews it without a failed request:
//
//	                 a day before it ends                      every API server knows both CAs
//	serving A (CA A) --------------------> serving A (CA A, B) ------------------------------> serving B (CA A, B)
//
// [NewController] takes the place of knative.dev/pkg/webhook/certificates.NewController in main, which replaces certificate and CA at once, and not
// before an event reports a change. The other controllers of knative.dev/pkg copy the CAs, and its server serves the certificate. The process is ready
// once the API server can reach it.
//
// The package is apart from package hardening because it imports informers, of webhook configurations and CRDs, which every process that links
// them starts and needs the permission to list. As upstream, it does not create the Secret: while it is deleted, new connections fail.
package certificates
