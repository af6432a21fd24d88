/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package disk watches the free space of the file system that a cluster's folder is on. etcd ends the process when a
// write fails, and an API server without its store only hangs; so a cluster does not start without room, and stops in
// order while there still is some. It frees nothing itself.
package disk
