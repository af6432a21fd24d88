/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 is the hub version of samples.knative.dev: the version that is
// stored and that reconcilers and clients use. Each kind is spread over one
// file per concern: _types, _defaults, _validation, _lifecycle.
//
// It imports no client, reconciler or webhook, so that others can use the
// types without linking the operator; a test guards this.
//
// +k8s:deepcopy-gen=package
// +groupName=samples.knative.dev
// +conversion-gen:hub
// +conversion-gen:annotation=conversion.samples.knative.dev/properties
package v1
