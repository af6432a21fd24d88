/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stdio

import (
	"fmt"
	"syscall"
)

// The newer architectures have no system call dup2.
func dup2(from, to int) error {
	if err := syscall.Dup3(from, to, 0); err != nil {
		return fmt.Errorf("duplicating a file descriptor: %w", err)
	}
	return nil
}
