/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// exitUsage is the exit status after a flag that does not exist or has a bad value.
const exitUsage = 2

// options are the program's flags.
type options struct {
	module, samples string
	// configs are the folders of the operator's manifests.
	configs []string
	wait    bool
	// allVersions has the CRDs serve all of their versions.
	allVersions bool
	// images has the operator run from images that ko builds, instead of as processes.
	images bool
	// kubeconfig is the path of that of an existing cluster, to be used instead of a control plane, and confirmation the name of its context.
	kubeconfig, confirmation string

	timeout time.Duration
	// startTimeout limits the start of the operator.
	startTimeout time.Duration
	// command is a program with its arguments that runs instead of the samples, if there is one.
	command []string
}

// parse reads the flags. If it returns an error, it has written the message to stderr.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var wait, via, versions string
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("config", "`folder` of the operator's manifests; several are applied in their order (default: config in the module)", func(folder string) error {
		o.configs = append(o.configs, folder)
		return nil
	})
	flags.StringVar(&o.samples, "samples", "", "folder of the samples (default: samples in the module)")
	flags.StringVar(&wait, "wait", "", `"ready": end with 0 once every sample is Ready, or with 1 and a diagnosis`)
	flags.StringVar(&via, "via", "", `"ko": apply the operator with ko, so that it runs from images in Pods as in a cluster (Linux only); processes by default`)
	flags.StringVar(&versions, "versions", "", `"all": serve all versions of each kind, instead of those that the manifests serve`)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "",
		"use the cluster of the current context of this kubeconfig, instead of starting a control plane, and images in KO_DOCKER_REPO")
	flags.StringVar(&o.confirmation, "confirm", "", "with --kubeconfig: the name of the context; without it, a terminal prompts for the name")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "how long the samples may take to be Ready with --wait=ready, from when they are applied")
	flags.DurationVar(&o.startTimeout, "start-timeout", 2*time.Minute, "how long the operator may take until it is ready")
	args, o.command = cutCommand(args)
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("reading the flags: %w", err)
	}
	if err := o.complete(wait, via, versions, flags.Args()); err != nil {
		fmt.Fprintln(stderr, "run: "+err.Error())
		return o, err
	}
	return o, nil
}

// cutCommand separates the flags from the command behind the first "--", which is nil without one.
func cutCommand(args []string) (flags, command []string) {
	i := slices.Index(args, "--")
	if i < 0 {
		return args, nil
	}
	return args[:i], args[i+1:]
}

func (o *options) complete(wait, via, versions string, rest []string) (err error) {
	switch {
	case o.command != nil && len(o.command) == 0:
		return errors.New("--: must be followed by a command to run, for example -- go test ./test/addressbinding")
	case len(o.command) > 0 && (wait != "" || o.samples != ""):
		return errors.New("--wait and --samples: a command runs instead of the samples; leave the flags out")
	case wait != "" && wait != "ready":
		return fmt.Errorf("--wait=%s: the only thing to wait for is ready", wait)
	case via != "" && via != "ko":
		return fmt.Errorf("--via=%s: the only other way to run the operator is ko", via)
	case versions != "" && versions != "all":
		return fmt.Errorf("--versions=%s: must be all, or be left out to serve the versions that the manifests serve", versions)
	case via == "ko" && o.kubeconfig == "" && runtime.GOOS != "linux":
		return fmt.Errorf("--via=ko: images need Linux, this is %s: leave the flag out to run processes", runtime.GOOS)
	case o.kubeconfig != "" && len(o.command) > 0:
		return errors.New("--kubeconfig: samples run in an existing cluster; leave out the command behind --")
	case o.kubeconfig != "" && os.Getenv("KO_DOCKER_REPO") == "":
		return errors.New("KO_DOCKER_REPO: must be set with KUBECONFIG, to a repository that you can push images to and that the cluster pulls from, " +
			"such as ghcr.io/YOU/mallard, or kind.local for kind")
	case o.kubeconfig == "" && o.confirmation != "":
		return fmt.Errorf("CONFIRM=%s: confirms the cluster of KUBECONFIG, which is missing: make run KUBECONFIG=PATH CONFIRM=CONTEXT", o.confirmation)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout=%v: must be more than 0", o.timeout)
	case o.startTimeout <= 0:
		return fmt.Errorf("--start-timeout=%v: must be more than 0", o.startTimeout)
	case len(rest) > 0:
		return fmt.Errorf("%q: only flags are known, and behind -- a command", rest)
	}
	o.allVersions = versions == "all"
	o.wait, o.images = wait == "ready", via == "ko" && o.kubeconfig == ""
	if o.module, err = controlplane.Repository(); err != nil {
		return err
	}
	if len(o.configs) == 0 {
		o.configs = []string{filepath.Join(o.module, "config")}
	}
	if o.samples == "" {
		o.samples = filepath.Join(o.module, "samples")
	}
	paths := []*string{&o.samples}
	for i := range o.configs {
		paths = append(paths, &o.configs[i])
	}
	var failures []error
	for _, path := range paths {
		var failure error
		*path, failure = filepath.Abs(*path)
		failures = append(failures, failure)
	}
	return errors.Join(failures...)
}
