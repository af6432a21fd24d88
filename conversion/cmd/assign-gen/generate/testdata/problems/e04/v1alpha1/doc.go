/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is wrong on purpose.
//
// +conversion-gen:next=github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generate/testdata/problems/e04/v2
package v1alpha1
