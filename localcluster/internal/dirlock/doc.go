/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package dirlock keeps two clusters from using one folder. The lock is the kernel's (flock), so it ends with the process
// that holds it, however that ends; the file is only the place where it hangs and where the holder's process id is
// written for people to read. It does not protect a folder on a file system without flock.
package dirlock
