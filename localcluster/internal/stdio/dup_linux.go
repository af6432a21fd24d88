/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stdio

import "syscall"

// dup2 has no system call of its own on the newer architectures.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
