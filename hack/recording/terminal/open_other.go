//go:build !linux

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package terminal

import (
	"errors"
	"os"
	"syscall"
)

// Open fails: pseudoterminals are opened on Linux only.
func Open(uint16, uint16) (user, program *os.File, err error) {
	return nil, nil, errors.New("pseudoterminals are opened on Linux only")
}

// Attributes make a program the one that receives the signals of its terminal.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
