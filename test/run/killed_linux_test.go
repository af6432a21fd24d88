//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"syscall"
	"testing"
)

// Outside of Linux the kernel does not signal to a process that its parent exited.
func TestRun_Killed_LeavesNoProcess(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	p.await(running...)
	p.signal(syscall.SIGKILL)
	if status := p.exit(); status != -1 {
		t.Errorf("got exit status %d, want -1 for an end by a signal", status)
	}
	p.leavesNoProcess()
}
