/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 holds a duck type.
//
// +groupName=duck.good.example.com
package v1
