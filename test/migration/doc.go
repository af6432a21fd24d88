/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package migration holds the suite of what the program migrate does to stored objects: all of them end up at the storage version, whatever
// happens during the migration, and nothing else of them changes. It reads the objects in etcd, and sends the API server the requests that
// failed before. Most tests bring their own CRD, so that each may change its versions.
//
// Package conversion tests the conversions; the commands of docs/how-to/migrate-stored-objects.md run the Job in a Pod.
package migration
