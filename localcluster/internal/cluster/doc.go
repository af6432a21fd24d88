/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cluster owns the life of one cluster: it takes the folder, starts the parts in order, reports when the cluster is ready, waits for a reason
// to stop, stops the parts in the opposite order, and gives everything back.
//
//	folder, lock, disk space -> port -> keys -> (registry) -> etcd -> API server -> controllers, Pod loop
//	    -> (scheduler, process node) -> ready
//
// The context may end at any of these moments, and each part may fail at any of them; both lead to the same stop, whose
// steps are bounded in time. The packages of the parts document them.
package cluster
