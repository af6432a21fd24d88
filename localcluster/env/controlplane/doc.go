/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controlplane builds the local control plane and runs it as a subprocess. [Build] keeps the program in the user's
// cache, under a name that changes with everything that goes into it, and shows the progress of the first build, which
// takes minutes. [Start] runs a cluster that ends with the process that started it, whichever way that ends.
//
// The go command would need seconds in each suite to find that 2,500 packages have not changed; hashing its sources takes a fraction of one.
//
// It knows localcluster by its command line alone and imports nothing of it. What runs in the cluster is its callers'
// business.
package controlplane
