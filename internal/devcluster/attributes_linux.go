/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devcluster

import "syscall"

// attributes put the cluster into a process group of its own, so that a Ctrl-C in the terminal does not reach it before
// its parent has stopped what uses it, and ask the kernel for a signal when the parent is gone. Unlike SIGKILL, this one
// lets the cluster remove its temporary folder.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
