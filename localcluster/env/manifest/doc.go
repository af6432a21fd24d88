/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package manifest reads Kubernetes manifests from a folder or from text as the objects that they describe, in the order
// in which kubectl would apply them, so that a mistake in a file is named before anything is started.
//
// It neither applies them nor checks them against a schema: kubectl and the API server do.
package manifest
