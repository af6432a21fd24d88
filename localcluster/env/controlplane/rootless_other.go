//go:build !linux

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"errors"
	"syscall"
)

// CheckPods returns an error, since Pods run on Linux only.
func CheckPods() error { return errors.New("images run on Linux only") }

func becomeRoot(*syscall.SysProcAttr) {}
