/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1beta1 is the first version of gizmo.example.com.
//
// +k8s:deepcopy-gen=package
// +groupName=gizmo.example.com
// +conversion-gen:next=example.com/gizmo/apis/v1
package v1beta1
