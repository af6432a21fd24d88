/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package etcd runs the cluster's store: an etcd server of one member, embedded in the process, reached over a Unix
// socket in the cluster's folder, so that no port can collide and no other user of the machine can connect to it. The API server compacts it. There
// is no backup.
package etcd
