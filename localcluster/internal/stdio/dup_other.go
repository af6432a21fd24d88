//go:build !linux

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stdio

import (
	"fmt"
	"syscall"
)

func dup2(from, to int) error {
	if err := syscall.Dup2(from, to); err != nil {
		return fmt.Errorf("duplicating a file descriptor: %w", err)
	}
	return nil
}
