/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1beta1 is the first version of backup.example.com.
//
// +k8s:deepcopy-gen=package
// +groupName=backup.example.com
// +conversion-gen:next=example.com/backup/apis/v1
package v1beta1
