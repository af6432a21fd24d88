/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/mallard-dev/mallard/localcluster/internal/apiserver"
	"github.com/mallard-dev/mallard/localcluster/internal/etcd"
	"github.com/mallard-dev/mallard/localcluster/internal/pki"
)

// join prepares the folder of an API server on the etcd of another cluster. Both must trust the same clients and tokens.
func join(ctx context.Context, other, dir string) error {
	// The path of a Unix socket has to be short.
	if err := os.Chdir(other); err != nil {
		return fmt.Errorf("--join: %w", err)
	}
	if err := etcd.Runs(ctx); err != nil {
		return fmt.Errorf("--join %s: %w", other, err)
	}
	// other may be relative to the former working directory.
	if err := pki.Copy(pkiDir("."), pkiDir(dir)); err != nil {
		return fmt.Errorf("--join %s: %w", other, err)
	}
	return nil
}

func pkiDir(dir string) string { return filepath.Join(dir, "pki") }

// bringUpJoined waits until the API server is ready. The controllers and the nodes are those of the other cluster.
func (c *cluster) bringUpJoined(ctx context.Context, server *apiserver.Server) error {
	start, cancel := c.startContext(ctx)
	defer cancel()
	config, err := c.config(selfUser, superusers)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the cluster's own client: %w", err)
	}
	if err := server.WaitReady(start, client); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	c.resolver.Use(client, factory.Core().V1().Services().Lister(), nil)
	factory.Start(ctx.Done())
	return nil
}
