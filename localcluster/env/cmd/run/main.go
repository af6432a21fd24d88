/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	os.Exit(realMain())
}

func realMain() int {
	options, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return exitUsage
	}
	ctx, hurry := interrupts()
	err = run(ctx, hurry, options, newScreen(os.Stdout))
	var stop stopped
	var command *commandError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &stop):
		if err.Error() != stop.Error() {
			fmt.Fprintln(os.Stderr, "run: "+err.Error())
		}
		return stop.status()
	case errors.As(err, &command):
		fmt.Fprintln(os.Stderr, "run: "+err.Error())
		return command.status
	default:
		fmt.Fprintln(os.Stderr, "run: "+err.Error())
		return 1
	}
}

// stopped is the cause of a context that a signal has ended.
type stopped struct{ signal syscall.Signal }

func (s stopped) Error() string { return "stopped by signal: " + s.signal.String() }

// status is 0 after Ctrl-C, which is how a run normally ends, and otherwise the status by which a shell reports the signal.
func (s stopped) status() int {
	if s.signal == syscall.SIGINT {
		return 0
	}
	return 128 + int(s.signal)
}

// lastResort is the time that an immediate stop may take before the program just exits. On Linux its child processes end with it.
const lastResort = 3 * time.Second

// interrupts returns a context that the first Ctrl-C ends, for an orderly stop, and one that the second ends, for a stop at
// once.
func interrupts() (ctx, hurry context.Context) {
	ctx, cancel := context.WithCancelCause(context.Background())
	hurry, cancelHurry := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		first := stopped{syscall.SIGINT}
		if s, ok := (<-signals).(syscall.Signal); ok {
			first.signal = s
		}
		cancel(first)
		<-signals
		cancelHurry(first)
		time.AfterFunc(lastResort, func() { os.Exit(first.status()) })
	}()
	return ctx, hurry
}
