// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1beta1 is the older version of the kind.
//
// +k8s:deepcopy-gen=package
// +groupName=controllerruntime.e2e.mallard.dev
// +conversion-gen:next=github.com/mallard-dev/mallard/conversion/e2e/controllerruntime/v1
package v1beta1
