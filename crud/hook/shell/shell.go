/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package shell lets an executable be bash and sh, so that hooks in shell run in an image that has no other program. Everything is the
// work of libraries: the interpreter of mvdan.cc/sh, the commands of u-root such as cat and mktemp, and the jq of hook.Main. Programs that the
// image has are preferred.
package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
	"mvdan.cc/sh/x/coreutils"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/crud/internal/child"
)

// command is the argument that selects the shell, whose name and arguments follow.
const command = "hook-shell"

// Main runs the shell and ends the process, if the arguments select it. A main function calls it and hook.Main first.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != command { //nolint:mnd // the program, the command and the shell
		return
	}
	os.Args = os.Args[2:]
	os.Exit(bash())
}

// Command returns the program and the arguments that run a script or program: this executable for a script whose shell does not exist.
func Command(path string) ([]string, error) {
	file, err := os.Open(path) //nolint:gosec // the hook to run
	if err != nil {
		return nil, fmt.Errorf("opening the program: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	line, err := bufio.NewReaderSize(file, 256).ReadSlice('\n')
	interpreter, isScript := strings.CutPrefix(string(line), "#!")
	words := strings.Fields(interpreter)
	if err != nil || !isScript || len(words) == 0 {
		return []string{path}, nil
	}
	shell := words[0]
	if filepath.Base(shell) == "env" {
		shell = words[len(words)-1]
	}
	name := filepath.Base(shell)
	_, errInterpreter := exec.LookPath(words[0])
	_, errShell := exec.LookPath(shell)
	if errInterpreter == nil && errShell == nil || name != "bash" && name != "sh" {
		return []string{path}, nil
	}
	return []string{child.Executable(), command, name, path}, nil
}

// bash runs the script that the first argument names, or the second one after -c, and returns the exit status.
func bash() int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	err := runScript(ctx, os.Args[1:])
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bash:", err)
		return 1
	}
	return 0
}

func runScript(ctx context.Context, args []string) error {
	var script, name string
	switch {
	case len(args) > 1 && args[0] == "-c":
		script, name, args = args[1], "bash", append(args[:1:1], args[2:]...)
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		content, err := os.ReadFile(args[0]) //nolint:gosec // the script to run
		if err != nil {
			return fmt.Errorf("reading the script: %w", err)
		}
		script, name = string(content), args[0]
	default:
		return fmt.Errorf("the arguments %q are not supported: use FILE ARGUMENT… or -c COMMAND", args)
	}
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), name)
	if err != nil {
		return fmt.Errorf("parsing the script: %w", err)
	}
	runner, err := interp.New(
		interp.Env(expand.ListEnviron(os.Environ()...)), interp.Params(append([]string{"--"}, args[1:]...)...),
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr), interp.ExecHandlers(missing),
	)
	if err != nil {
		return fmt.Errorf("preparing the shell: %w", err)
	}
	return runner.Run(ctx, parsed) //nolint:wrapcheck // an exit status
}

func missing(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	builtin := coreutils.ExecHandler(next)
	return func(ctx context.Context, args []string) error {
		shell := interp.HandlerCtx(ctx)
		if _, err := interp.LookPathDir(shell.Dir, shell.Env, args[0]); err == nil {
			return next(ctx, args)
		}
		switch args[0] {
		case "bash", "sh":
			return next(ctx, append([]string{child.Executable(), command}, args...))
		case "jq":
			return next(ctx, append([]string{child.Executable(), hook.JQCommand}, args[1:]...))
		}
		return builtin(ctx, args)
	}
}
