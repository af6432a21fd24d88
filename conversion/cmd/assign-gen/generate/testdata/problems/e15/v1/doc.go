/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 is wrong on purpose.
//
// +conversion-gen:hub
// +conversion-gen:annotation=conversion.example.com/properties
package v1
