/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package container runs one process for each container: as root, also as the root of a user namespace, in a separate root folder with its volumes
// mounted, a separate PID namespace and no more privileges than a container has; as any other user simply in the folder. A process never outlives the
// program that started it, and takes all of its children with it.
//
// That is made for the developer's own programs, not as protection from programs that want to break out: the network, memory and
// time of the machine are shared, and no system call is rejected.
package container
