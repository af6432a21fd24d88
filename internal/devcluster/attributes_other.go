//go:build !linux

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devcluster

import "syscall"

// attributes put the cluster into a process group of its own. That the parent is gone is seen by the end of standard
// input alone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
