/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package admission serves webhooks. [Serve] is the HTTPS server of a process: it authenticates the API server by package
// certificates, and finishes every request before the process exits. [Default] and [Validate] answer admission requests by the
// SetDefaults and Validate of Go types, so that fields that the types do not have survive, and the schema reports wrong types.
//
// Each replaces a part of knative.dev/pkg/webhook; their comments explain why.
package admission
