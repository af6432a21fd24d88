/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 holds a kind for the tests of crd-gen.
//
// +groupName=foreign.example.com
package v1
