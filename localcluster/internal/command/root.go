/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mallard-dev/mallard/localcluster/internal/stdio"
)

// Main runs the program with its arguments (args[0] is the program's name) and returns the exit code: 0 after success
// or a clean stop, 1 after an error, which has then been written to standard error as one line.
func Main(args []string, stdin, stdout *os.File) int {
	stderr, err := stdio.Keep()
	if err != nil {
		// There is nowhere to say it.
		return 1
	}
	root := &cobra.Command{
		Use:           "localcluster",
		Short:         "A Kubernetes control plane in one process, for development and tests",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetArgs(args[1:])
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newUp(stdin, stdout, stderr), newKubectl(), newStored(stdout), newCompact(), newVersion(stdout))
	ran, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	printError(stderr, ran, err)
	return 1
}

func printError(w io.Writer, cmd *cobra.Command, err error) {
	line := strings.Join(strings.Fields(err.Error()), " ")
	if _, own := errors.AsType[runError](err); !own {
		line += fmt.Sprintf(" (see %q)", cmd.CommandPath()+" --help")
	}
	fmt.Fprintln(w, "localcluster: "+line)
}
