/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package migration moves stored objects of a CustomResourceDefinition to its storage version, and makes them ready for versions to be dropped from it.
//
// It differs from package storageversion of knative.dev/pkg in what it leaves behind. Objects may name a version in metadata.managedFields: once it is
// dropped, every server-side apply to such an object fails (kubernetes/kubernetes#111937), and in some releases any other write empties the list. So
// one write cleans and moves an object. An object that is rejected does not keep the others from their turn. And status.storedVersions is pruned only
// if all were written, and the CRD is the one that was read.
//
// A migration may be interrupted and begun again, and several may run at once: an object that is stored as it should be is not written, and every
// write that depends on an earlier read carries its resourceVersion. When nothing is left to do, a migration only reads.
package migration
