/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package informers sets up the informers that a controller shares with the others of its process, before they run, and returns
// the objects of their events and indexes by their types.
//
// Which indexes and handlers a controller needs is its own business, and so is what its handlers do. Informers of kinds
// that are known only at run time are made by runtime/ducks.
package informers
