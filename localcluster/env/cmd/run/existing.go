/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
)

// confirm shows which cluster the run would use, and returns an error unless the user names its context, as confirmation or on a terminal.
func confirm(ctx context.Context, s *screen, cluster *environment.Existing, confirmation string, stdin *os.File) error {
	s.print(fmt.Sprintf("The cluster is context %s of KUBECONFIG, server %s.\n"+
		"This run creates the operator and the samples in it, from images in KO_DOCKER_REPO, %s, and removes both at its end.\n\n",
		cluster.Context, cluster.Server, os.Getenv("KO_DOCKER_REPO")))
	switch {
	case confirmation == cluster.Context:
		return nil
	case confirmation != "":
		return fmt.Errorf("CONFIRM=%s: must be the current context of KUBECONFIG, %s", confirmation, cluster.Context)
	case !term.IsTerminal(int(stdin.Fd())):
		return fmt.Errorf("CONFIRM: must be set to the current context of KUBECONFIG where no terminal can ask: CONFIRM=%s", cluster.Context)
	}
	s.print("Type the name of the context to use this cluster: ")
	typed, err := readLine(ctx, stdin)
	if err == nil && typed != cluster.Context {
		err = fmt.Errorf("got %q instead of %s: nothing was created", typed, cluster.Context)
	}
	return err
}

// readLine reads a line unless the context ends first.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		read <- result{strings.TrimSpace(line), err}
	}()
	select {
	case r := <-read:
		if r.err != nil {
			return "", fmt.Errorf("reading the confirmation: %w", r.err)
		}
		return r.line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
