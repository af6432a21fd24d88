/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// Variable is the environment variable with the path of the kubeconfig of a running environment, to which test suites attach instead of starting
// their own. The program of `make run` sets it for the command that it runs.
const Variable = "LOCALCLUSTER_KUBECONFIG"

// Attach returns the environment that another program has started and keeps running, by the path of its kubeconfig. It uses the options Module, Config,
// Dir and Progress. Stop leaves the environment as it is.
func Attach(ctx context.Context, kubeconfig string, options Options) (*Env, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Env{
		options: options, Kubeconfig: kubeconfig, AuditLog: controlplane.AuditLog(filepath.Dir(kubeconfig)),
		kubectlCache: filepath.Join(options.Dir, "kubectl-cache"),
	}
	if _, err := os.Stat(e.AuditLog); err != nil {
		return nil, fmt.Errorf(
			"environment variable %s=%q: must be the path of the KUBECONFIG that make run prints while it runs, which has an audit log next to it: %w",
			Variable, kubeconfig, err)
	}
	if e.Config, err = adminConfig(kubeconfig); err != nil {
		return nil, fmt.Errorf("environment variable %s: %w", Variable, err)
	}
	if e.Manifests, err = manifest.ReadDir(options.Config...); err != nil {
		return nil, err
	}
	if e.Localcluster, err = controlplane.Build(ctx, options.Progress); err != nil {
		return nil, err
	}
	return e, nil
}
