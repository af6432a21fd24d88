/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 is the version of backup.example.com that is stored.
//
// +k8s:deepcopy-gen=package
// +groupName=backup.example.com
// +conversion-gen:hub
// +conversion-gen:annotation=conversion.backup.example.com/properties
package v1
