/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package migration moves stored objects of a CustomResourceDefinition to its storage version, and makes them ready for
// versions to be dropped from it.
//
// Two things stand in the way of dropping a version. Objects may be stored at it: the API server refuses to drop one
// that status.storedVersions names. And objects may name it in metadata.managedFields: once it is gone, every server-side
// apply to such an object fails, whatever version it is made at (kubernetes/kubernetes#111937), and in some releases any
// other write empties the list. A Migrator does both, the second first, since writing an object is what moves it:
//
//	read the definition ─ clean each object's managedFields ─ write each object ─ prune status.storedVersions
//
// Moving is the Migrator's of knative.dev/pkg/apiextensions/storageversion, which lists the objects and patches each with
// nothing, so that the API server writes it at the storage version. By itself it ends at the first error. It is given
// clients that try again what may succeed, note what does not and let it go on, and that refuse its last step, the only
// one that cannot be taken back, when an object is left or the definition has changed since it was read. So the order of
// its steps stays upstream's, and what is here is how each of them may fail.
//
// A run may be interrupted at any point and begun again, and several may go on at once: an object that is stored as it
// should be is not written, and every write that depends on what was read says so to the API server. When nothing is left
// to do, a run only reads.
//
// Which versions a definition has, which of them is stored, and when one is dropped is not its job. Neither is
// validation: an object that today's rules refuse stays as it is, and is reported.
package migration
