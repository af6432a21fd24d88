// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 is the version of the kind that is stored.
//
// +k8s:deepcopy-gen=package
// +groupName=controllerruntime.e2e.mallard.dev
// +conversion-gen:hub
// +conversion-gen:annotation=conversion.e2e.mallard.dev/properties
package v1
