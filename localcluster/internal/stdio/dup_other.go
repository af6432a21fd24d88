//go:build !linux

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stdio

import "syscall"

func dup2(from, to int) error { return syscall.Dup2(from, to) }
