/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 is the version of gizmo.example.com that is stored.
//
// +k8s:deepcopy-gen=package
// +groupName=gizmo.example.com
// +conversion-gen:hub
// +conversion-gen:annotation=conversion.gizmo.example.com/properties
package v1
