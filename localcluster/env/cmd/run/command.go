/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// commandGrace is the time that a command has to exit after SIGTERM.
const commandGrace = 10 * time.Second

// commandError reports that the command has failed.
type commandError struct {
	name   string
	status int
}

func (e *commandError) Error() string {
	return fmt.Sprintf("%s has failed with exit status %d", e.name, e.status)
}

// command runs the user's command with the environment's kubeconfig in an environment variable, until the command exits. A process of the operator
// that exits first stops the command.
func (r *session) command(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case exit := <-r.exits:
			cancel(exit)
		case <-r.env.ClusterDone():
			cancel(fmt.Errorf("the control plane has ended: %w", r.env.ClusterErr()))
		case <-ended:
		}
	}()
	name, args := r.options.command[0], r.options.command[1:]
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), environment.Variable+"="+r.env.Kubeconfig)
	err := procgroup.Run(ctx, cmd, commandGrace)
	var exit *exec.ExitError
	if ctx.Err() == nil && errors.As(err, &exit) {
		return &commandError{name, exit.ExitCode()}
	}
	return err
}
