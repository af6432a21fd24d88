/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"github.com/mallard-dev/mallard/localcluster/internal/apiserver"
	"github.com/mallard-dev/mallard/localcluster/internal/cluster"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode"
	"github.com/mallard-dev/mallard/localcluster/internal/signals"
)

// runError marks errors of a command that was called rightly: they name what is wrong and what to do, and the help text
// adds nothing to them.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// errVersion reports that the program was built without the flags that set the version its parts report. Clients parse what GET /version
// returns, and some reject a server that is older than they need.
var errVersion = errors.New("this program does not know its Kubernetes version: build it with " +
	"\"go tool localcluster build\" at the top of the repository")

// errStop is the cause of a stop that the user requested, so an orderly one.
var errStop = errors.New("asked to stop")

func newUp(stdin io.Reader, stdout, stderr *os.File) *cobra.Command {
	var opts cluster.Options
	var untilEOF bool
	cmd := &cobra.Command{
		Use:   signals.UpCommand + " [flags] [-- KUBE-APISERVER-FLAG...]",
		Short: "Run a cluster until it is interrupted; prints the path of its kubeconfig once it is ready",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return fmt.Errorf("unexpected argument %q: only flags of kube-apiserver may follow, after --", args[0])
			}
			opts.ServerFlags = args
			if opts.Port < 0 || opts.Port > 65535 {
				return fmt.Errorf("--port %d is not a port: choose one from 1 to 65535, or 0 for any free one", opts.Port)
			}
			if err := checkRegistry(runtime.GOOS, &opts, cmd.Flags().Changed(registryPort)); err != nil {
				return err
			}
			if !strings.HasPrefix(version.Get().GitVersion, "v1.") {
				return runError{errVersion}
			}
			if err := apiserver.WithoutProxy(); err != nil {
				return runError{err}
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			stopOnSignal(cancel)
			if untilEOF {
				stopOnEOF(stdin, cancel)
			}
			opts.Stdout, opts.Stderr = stdout, stderr
			if err := cluster.Run(ctx, opts); err != nil && !errors.Is(err, errStop) {
				return runError{err}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.Dir, "dir", "", "folder of the cluster's files, kept when it stops; a later start with it continues "+
		"with the same data (default: a new temporary folder, removed at the end)")
	f.StringVar(&opts.Join, "join", "", "folder of a cluster that runs: run one more API server on its etcd, and nothing else")
	f.IntVar(&opts.Port, "port", 0, "port of the API server on 127.0.0.1 (default: any free one)")
	f.BoolVar(&opts.Registry, "registry", false, "serve a registry of images, and run Pods whose images are all from it as "+
		"processes of this machine, with the controllers of Deployments and other workloads (Linux only)")
	f.IntVar(&opts.RegistryPort, registryPort, 0, "port of the registry on 127.0.0.1 (default: the one it had in --dir "+
		"before, or any free one)")
	f.BoolVar(&opts.Fsync, "fsync", false, "let etcd sync its files to disk, as a real cluster's does; slower")
	f.BoolVar(&untilEOF, "until-eof", false, "stop when standard input ends, so that the cluster never outlives the "+
		"program that started it")
	return cmd
}

// registryPort is the name of a flag.
const registryPort = "registry-port"

// checkRegistry checks the flags of the registry on an operating system.
func checkRegistry(system string, opts *cluster.Options, portGiven bool) error {
	switch {
	case opts.Registry && opts.Join != "":
		return errors.New("--registry with --join: the cluster that is joined runs the Pods; leave one of the two out")
	case opts.Registry && !processnode.Supported(system):
		return fmt.Errorf("--registry: images are for Linux, and this is %s: run it on Linux, or leave the flag out", system)
	case !opts.Registry && portGiven:
		return errors.New("--registry-port without --registry: add --registry, or leave the port out")
	case opts.RegistryPort < 0 || opts.RegistryPort > 65535:
		return fmt.Errorf("--registry-port %d is not a port: choose one from 1 to 65535, or 0 for any free one", opts.RegistryPort)
	}
	return nil
}

// stopOnSignal cancels on the first interrupt or termination signal. A repeated one changes nothing: the stop is
// bounded in time, and cutting it short could leave the temporary folder behind.
func stopOnSignal(cancel context.CancelCauseFunc) {
	go func() {
		for range signals.Stop {
			cancel(errStop)
		}
	}()
}

func stopOnEOF(stdin io.Reader, cancel context.CancelCauseFunc) {
	go func() {
		// A read error ends the input as surely as its end does.
		_, _ = io.Copy(io.Discard, stdin)
		cancel(errStop)
	}()
}
