/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

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
