/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// orStopped returns the error that the user has stopped the program, in place of the error of the interrupted step.
func orStopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// noteExit keeps the first exit, which is most likely the reason for the others.
func (r *session) noteExit(err error) {
	select {
	case r.exits <- err:
	default:
	}
}

// explain adds the last lines of a process to the error that says that it has ended.
func (r *session) explain(err error) error {
	if exit, ok := errors.AsType[*processes.ExitError](err); ok {
		return fmt.Errorf("%w\nits last lines:\n%s", err, indent(exit.Lines))
	}
	if lines := notReady(err); lines != "" {
		return fmt.Errorf("%w\n%s", err, lines)
	}
	return err
}

// notReady quotes each process that an error reports as not ready.
func notReady(err error) string {
	var out strings.Builder
	for _, one := range flatten(err) {
		if p, ok := one.(*processes.NotReadyError); ok { //nolint:errorlint // flatten has unwrapped it
			fmt.Fprintf(&out, "process %s is not ready; its last errors and last lines:\n%s", p.Process, indent(p.Lines))
		}
	}
	return out.String()
}

// flatten lists an error and all that it wraps.
func flatten(err error) []error {
	all := []error{err}
	switch e := err.(type) { //nolint:errorlint // this is what unwraps
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, flatten(one)...)
		}
	case interface{ Unwrap() error }:
		all = append(all, flatten(e.Unwrap())...)
	}
	return all
}

// orExit prefers the end of a process as the reason for a failure, since that is what the failure comes from.
func (r *session) orExit(err error) error {
	select {
	case exit := <-r.exits:
		return errors.Join(exit, err)
	default:
		return err
	}
}
