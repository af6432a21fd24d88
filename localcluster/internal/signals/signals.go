/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package signals catches the signals that stop a cluster, from the first moment on that a Go program can. Initialising
// the packages of Kubernetes takes a tenth of a second and more, in which an interrupt would still kill the process as if
// nothing were set up; Go initialises this package among the first, because it needs next to nothing. It does so for the
// command that runs a cluster only: the others end at once, as any program does.
package signals

import (
	"os"
	"os/signal"
	"syscall"
)

// UpCommand is the command that is to stop in order.
const UpCommand = "up"

// Stop delivers SIGINT, SIGTERM and SIGHUP (the terminal was closed), if the program was called with UpCommand.
var Stop = catch()

func catch() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	if len(os.Args) > 1 && os.Args[1] == UpCommand {
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	}
	return signals
}
