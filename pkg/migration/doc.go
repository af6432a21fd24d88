/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package migration moves stored objects of a CustomResourceDefinition to its storage version, and makes them ready for
// versions to be dropped from it.
//
// Two things prevent dropping a version. Objects may be stored at it: the API server does not drop one that status.storedVersions names. And objects
// may name it in metadata.managedFields: once it is dropped, every server-side apply to such an object fails, whatever version it is made at
// (kubernetes/kubernetes#111937), and in some releases any other write empties the list. A Migrator solves both with one write to each object, since
// any write has the API server store an object at the storage version:
//
//	read the CRD ─ for each object: clean managedFields, or else patch it with nothing ─ prune status.storedVersions
//
// A request that may succeed later is repeated. An object that cannot be written is noted, and the others are written all the same; the
// last step, the only one that cannot be taken back, is left out when an object is left or the CRD has changed since it was read. The
// duration of a run is not limited: a list that expires during the run is continued.
//
// A run may be interrupted at any point and begun again, and several may go on at once: an object that is stored as it should be is not
// written, and every write that depends on an earlier read carries its resourceVersion. When nothing is left to do, a run only reads.
//
// An object that today's validation rejects stays as it is, and is reported.
package migration
