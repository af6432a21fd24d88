/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package conversiontest holds what the tests that assign-gen generates have in common: random objects, round trips between
// two storage types and between all versions of a kind, an oracle of what each version shows, edits and damage on the way, and a search for
// hooks that are written and never called.
//
// The tests compare canonical JSON, to the letter: an empty list is not an absent one. That sources are left alone and
// share no memory with what is made of them is checked on the way.
//
// It does not know what the fields of a kind mean. Where random values are not enough, tests add functions for
// sigs.k8s.io/randfill.
package conversiontest
