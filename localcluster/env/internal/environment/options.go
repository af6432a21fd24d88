/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// defaultReadyTimeout is the time that the operator has to become ready.
const defaultReadyTimeout = 2 * time.Minute

// Phase is a part of the start that takes a while.
type Phase string

// The phases, in the order in which they begin. BuildOperator and BuildKo run in parallel with the two around them; with images,
// ApplyConfig builds these.
const (
	BuildCluster  Phase = "build the control plane"
	BuildOperator Phase = "build the operator"
	BuildKo       Phase = "build ko"
	StartCluster  Phase = "start the control plane"
	ApplyConfig   Phase = "apply the configuration"
	StartOperator Phase = "start the operator"
)

// Options configure an environment. Module and Dir are required.
type Options struct {
	// Module is the root folder of the module.
	Module string
	// Config are the folders with the operator's manifests, config in the module by default. They are applied in this order.
	Config []string
	// AllVersions has the CRDs of the manifests serve all of their versions.
	AllVersions bool
	// Dir is an existing folder of this environment's own, for everything that it writes. It is not removed.
	Dir string
	// Images has the operator run as a cluster would run it: ko builds its images and applies the manifests, and the control
	// plane starts the Pods. Hold, Replicas, Overrides, OnExit and OnError have no meaning then. Linux only.
	Images bool
	// Bare leaves the control plane empty: the manifests are read, but neither applied nor run.
	Bare bool
	// Existing, if set, is the cluster to use instead of a control plane. Its API server cannot call processes of this machine, so that the operator runs
	// from images, which ko pushes to KO_DOCKER_REPO. Samples is the folder that Apply is called with. Stop removes what was created.
	Existing *Existing
	Samples  string
	// Hold names processes that are not started.
	Hold []string
	// Replicas and Overrides are those of [processes.Options].
	Replicas  map[string]int
	Overrides func(*rest.Config) (map[string]processes.Override, error)
	// Applied, if set, is called between applying the manifests and starting the processes.
	Applied func(context.Context, *Env) error
	// Progress receives the progress of the build of the control plane. By default it is discarded.
	Progress io.Writer
	// Begin is called when a phase begins, and its result when the phase has succeeded. Phases may overlap.
	Begin func(Phase) (end func())
	// OnExit and OnError are those of [processes.Options].
	OnExit, OnError func(error)
	// ReadyTimeout is the time that the operator has to become ready, 2 minutes by default.
	ReadyTimeout time.Duration
	// Hurry, once done, cuts every orderly stop short: what is left is killed.
	Hurry context.Context //nolint:containedctx // outlives the context of the start
}

func (o Options) withDefaults() (Options, error) {
	for _, path := range []*string{&o.Module, &o.Dir} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return o, fmt.Errorf("finding a folder of the environment: %w", err)
		}
		*path = absolute
	}
	if len(o.Config) == 0 {
		o.Config = []string{filepath.Join(o.Module, "config")}
	}
	if o.Begin == nil {
		o.Begin = func(Phase) func() { return func() {} }
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = defaultReadyTimeout
	}
	if o.Hurry == nil {
		o.Hurry = context.Background()
	}
	return o, nil
}
