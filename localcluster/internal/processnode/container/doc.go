/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package container runs one process for each container: as root in a root folder of its own with its volumes mounted, a
// process number space of its own and no more rights than a container has; as anybody else simply in the folder. A
// process never outlives the program that started it, and takes all of its children with it.
//
// That is made for programs that somebody wrote himself, not against such that want to break out: the network, memory and
// time of the machine are shared, and no system call is rejected.
package container
