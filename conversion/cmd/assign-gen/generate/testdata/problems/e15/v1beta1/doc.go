/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1beta1 is wrong on purpose.
//
// +conversion-gen:next=github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generate/testdata/problems/e15/v1
package v1beta1
