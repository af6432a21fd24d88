/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package command runs the commands that the template program is made of, and ends them with all of their processes.
package command

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Output runs a command in a folder and returns its standard output. When the context ends, all processes of the command end with it.
func Output(ctx context.Context, dir, name string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	if err := Run(ctx, dir, &stdout, &stderr, name, args...); err != nil {
		return "", fmt.Errorf("%w\n%s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// Run runs a command in a folder like [Output], and writes its output while it runs.
func Run(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, stdout, stderr, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted in %s: %w", name, context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// RequireClean returns an error if the checkout in a folder has changes that are not committed.
func RequireClean(ctx context.Context, dir string) error {
	changed, err := Output(ctx, dir, "git", "status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("the checkout has changes. Commit or stash them:\n%s", changed)
	}
	return err
}

// Variables reads arguments in the form NAME=value, of which only the known names are accepted. A variable that is not named is empty.
func Variables(args []string, known ...string) (map[string]string, error) {
	values := make(map[string]string)
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s: there is no such variable; there are %s", arg, strings.Join(known, ", "))
		}
		values[name] = strings.TrimSpace(value)
	}
	return values, nil
}
