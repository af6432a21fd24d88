/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stdio

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
)

// Keep returns another way to standard error, which stays when Divert turns the file descriptor to something else. It is
// called before Divert.
func Keep() (*os.File, error) {
	fd, err := syscall.Dup(syscall.Stderr)
	if err != nil {
		return nil, fmt.Errorf("keeping standard error: %w", err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "stderr"), nil
}

// Divert redirects standard error of the whole process to a file. Only the trace of a panic is also written to the result of Keep: a bug
// must not be hidden in a log.
func Divert(to, kept *os.File) error {
	if err := debug.SetCrashOutput(kept, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("keeping standard error for traces: %w", err)
	}
	if err := dup2(int(to.Fd()), syscall.Stderr); err != nil {
		return fmt.Errorf("diverting standard error: %w", err)
	}
	return nil
}
