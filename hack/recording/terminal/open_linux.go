/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package terminal

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Open opens a pseudoterminal: what a user types is written to the first file, and a program has the second one.
func Open(columns, rows uint16) (user, program *os.File, err error) {
	user, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a pseudoterminal: %w", err)
	}
	program, err = openProgram(user, columns, rows)
	if err != nil {
		_ = user.Close()
		return nil, nil, err
	}
	return user, program, nil
}

func openProgram(user *os.File, columns, rows uint16) (*os.File, error) {
	descriptor := int(user.Fd())
	if err := unix.IoctlSetPointerInt(descriptor, unix.TIOCSPTLCK, 0); err != nil {
		return nil, fmt.Errorf("unlocking a pseudoterminal: %w", err)
	}
	if err := unix.IoctlSetWinsize(descriptor, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		return nil, fmt.Errorf("setting the size of a pseudoterminal: %w", err)
	}
	number, err := unix.IoctlGetInt(descriptor, unix.TIOCGPTN)
	if err != nil {
		return nil, fmt.Errorf("opening the program's end of a pseudoterminal: %w", err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the program's end of a pseudoterminal: %w", err)
	}
	return program, nil
}

// Attributes make a program the one that receives the signals of its terminal.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
