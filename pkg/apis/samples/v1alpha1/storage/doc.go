/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package storage holds the types that v1alpha1 is converted through in memory, as assign-gen makes them of the API types,
// and the hook that makes a reference of a Service's name.
//
// Nothing is stored as these types: what is stored are API objects of v1.
package storage
