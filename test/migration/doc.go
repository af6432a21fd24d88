/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package migration tests what the program migrate does to stored objects: all of them end up at the storage version, whatever happens during the
// migration, and nothing else of them changes. It reads the objects in etcd, and repeats requests that failed before the migration. Most tests
// define their own CRD, whose versions they change.
package migration
