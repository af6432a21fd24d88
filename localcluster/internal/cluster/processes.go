/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/mallard-dev/mallard/localcluster/internal/apiserver"
	"github.com/mallard-dev/mallard/localcluster/internal/controllers"
	"github.com/mallard-dev/mallard/localcluster/internal/pods"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
	"github.com/mallard-dev/mallard/localcluster/internal/registry"
	"github.com/mallard-dev/mallard/localcluster/internal/scheduler"
	"github.com/mallard-dev/mallard/localcluster/internal/serviceresolver"
)

// nodeUser is the user name of the process node.
const nodeUser = "system:node:" + processnode.Name

// processes holds the additional parts of a cluster that runs images: a registry, and a Node whose Pods are processes.
type processes struct {
	registry *registry.Registry
	table    *ports.Table
}

// startRegistry serves the registry, which must exist before the first Pod.
func (c *cluster) startRegistry(ctx context.Context, cancel context.CancelCauseFunc) (stop func(), err error) {
	served, err := registry.Start(ctx, filepath.Join(c.folder.path, "registry"), c.opts.RegistryPort)
	if err != nil {
		return nil, err
	}
	c.processes = &processes{registry: served, table: ports.NewTable()}
	go func() {
		<-served.Done()
		if err := served.Err(); err != nil {
			cancel(err)
		}
	}()
	return func() { _ = served.Stop() }, nil
}

// podOptions selects the Pods that the Pod loop leaves to others.
func (c *cluster) podOptions() pods.Options {
	if c.processes == nil {
		return pods.Options{}
	}
	return pods.Options{Scheduled: true, Other: processnode.Name}
}

// endpoints finds Services whose Pods are run; nil without such Pods.
func (c *cluster) endpoints(manager *controllers.Manager) *serviceresolver.Endpoints {
	if c.processes == nil {
		return nil
	}
	return &serviceresolver.Endpoints{
		Slices: manager.Informers.Discovery().V1().EndpointSlices().Lister(),
		Local:  c.processes.table.Lookup,
	}
}

// bringUpNode starts the process node, and waits until it is known.
func (c *cluster) bringUpNode(
	ctx, start context.Context, cancel context.CancelCauseFunc, client kubernetes.Interface, addresses *pods.Addresses,
	running *sync.WaitGroup,
) error {
	node, err := c.startNode(ctx, cancel, addresses, running)
	if err != nil {
		return err
	}
	select {
	case <-node.Ready():
	case <-start.Done():
		return fmt.Errorf("waiting for the Node %s: %w", processnode.Name, context.Cause(start))
	}
	if err := registry.Announce(start, client, c.processes.registry.Host); err != nil {
		return err
	}
	how := "as processes with separate roots"
	if !node.Isolated() {
		how = "as processes of this user, in folders"
	}
	fmt.Fprintf(c.opts.Stderr, "localcluster: images of the registry %s are run %s\n", c.processes.registry.Host, how)
	return nil
}

// startNode starts the process node and the scheduler, which run until the context ends and then leave the wait group.
func (c *cluster) startNode(
	ctx context.Context, cancel context.CancelCauseFunc, addresses *pods.Addresses, running *sync.WaitGroup,
) (*processnode.Node, error) {
	config, err := c.config(scheduler.User)
	if err != nil {
		return nil, err
	}
	host := c.processes.registry.Host
	placement, err := scheduler.New(ctx, config, func(pod *corev1.Pod, node string) (string, bool) { return allowed(host, pod, node) })
	if err != nil {
		return nil, err
	}
	if config, err = c.config(nodeUser, superusers); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of the Node %s: %w", processnode.Name, err)
	}
	certPEM, keyPEM, err := c.keys.Server(nodeUser, net.ParseIP(ports.Loopback))
	if err != nil {
		return nil, err
	}
	node, err := processnode.New(ctx, processnode.Options{
		Client: client, Dir: filepath.Join(c.folder.path, "process"), Host: host, Server: c.listener.Addr().String(),
		CAPEM: c.keys.CAPEM, CertPEM: certPEM, KeyPEM: keyPEM, ServerUser: apiserver.KubeletClient,
		Address: func(uid types.UID) (string, error) {
			address, err := addresses.Take(uid)
			return address.String(), err
		},
		NodeIP: pods.NodeIP, Table: c.processes.table,
	})
	if err != nil {
		return nil, err
	}
	running.Go(func() { placement.Run(ctx) })
	running.Go(func() {
		if err := node.Run(ctx); err != nil {
			cancel(err)
		}
	})
	return node, nil
}

// allowed reports whether a Pod may be placed on a Node: those that can be executed on the one, all others on the other.
func allowed(host string, pod *corev1.Pod, node string) (reason string, ok bool) {
	switch local := processnode.Local(host, pod); {
	case local && node != processnode.Name:
		return "Pods whose images are all from the local registry run on the Node " + processnode.Name, false
	case !local && node == processnode.Name:
		return "the Node " + processnode.Name + " executes images of the local registry only", false
	default:
		return "", true
	}
}
