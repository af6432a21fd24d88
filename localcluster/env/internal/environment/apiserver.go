/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"errors"
	"os/exec"

	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// StartAPIServer starts one more API server on the etcd of the environment, and returns it with a configuration for the administrator. dir is
// for its files, port is 0 for any free one, and flags are those of kube-apiserver. It has to be stopped before the environment.
func (e *Env) StartAPIServer(ctx context.Context, dir string, port int, flags ...string) (*controlplane.Cluster, *rest.Config, error) {
	server, err := controlplane.Start(ctx, controlplane.Options{
		Binary: e.Localcluster, Join: e.clusterDir(), Dir: dir, Port: port, ServerFlags: flags,
	})
	if err != nil {
		return nil, nil, err
	}
	config, err := adminConfig(server.Kubeconfig())
	if err != nil {
		return nil, nil, errors.Join(err, server.Stop(ctx))
	}
	return server, config, nil
}

// Compact removes all revisions but the current one from etcd.
func (e *Env) Compact(ctx context.Context) error {
	args := []string{"compact", "--dir", e.clusterDir()}
	_, err := e.output(ctx, exec.Command(e.Localcluster, args...), "localcluster", args)
	return err
}
