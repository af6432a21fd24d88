//go:build !linux

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package container

import "syscall"

// Runtime cannot be made here.
type Runtime struct{}

// NewRuntime returns ErrUnsupported.
func NewRuntime() (*Runtime, error) { return nil, ErrUnsupported }

// Isolated returns false.
func (*Runtime) Isolated() bool { return false }

// Owners returns false.
func (*Runtime) Owners() bool { return false }

// Start returns ErrUnsupported.
func (*Runtime) Start(Spec) (*Process, error) { return nil, ErrUnsupported }

// Prepare returns ErrUnsupported.
func (*Runtime) Prepare(string, string, string, []Mount, bool) error { return ErrUnsupported }

// Release does nothing.
func (*Runtime) Release(string, []Mount) {}

// Signal does nothing.
func (*Process) Signal(syscall.Signal) {}

// Kill does nothing.
func (*Process) Kill() {}
