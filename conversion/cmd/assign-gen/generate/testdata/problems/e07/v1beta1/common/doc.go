/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package common has no deep copies yet.
//
// +k8s:deepcopy-gen=package
package common
