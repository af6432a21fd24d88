/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version"

	"github.com/mallard-dev/mallard/localcluster/internal/apiserver"
	"github.com/mallard-dev/mallard/localcluster/internal/controllers"
	"github.com/mallard-dev/mallard/localcluster/internal/disk"
	"github.com/mallard-dev/mallard/localcluster/internal/etcd"
	"github.com/mallard-dev/mallard/localcluster/internal/pki"
	"github.com/mallard-dev/mallard/localcluster/internal/pods"
	"github.com/mallard-dev/mallard/localcluster/internal/serviceresolver"
)

var (
	serverIPs   = apiserver.ServerIPs
	serverNames = apiserver.ServerNames
)

const (
	// startTimeout bounds the start, for a machine that is far too slow; the last thing that was waited for is in the error.
	startTimeout = 2 * time.Minute
	// stopTimeout bounds the stop of each part.
	stopTimeout = 5 * time.Second
	// stuckTimeout bounds it when one of them has met a fatal error and stands still.
	stuckTimeout = 300 * time.Millisecond
	// selfUser is the user name of those parts of the cluster that no other Kubernetes has.
	selfUser = "system:localcluster"
)

type cluster struct {
	opts     Options
	folder   *folder
	listener net.Listener
	keys     *pki.PKI
	logs     *logs
	resolver serviceresolver.Resolver
	// processes is nil unless images are run.
	processes *processes
}

// run starts the parts, waits for a reason to stop, and stops them in the opposite order.
func (c *cluster) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// What ends the process elsewhere ends the context here, at any moment from now on.
	go func() {
		select {
		case err := <-c.logs.crash.Fatal():
			cancel(fmt.Errorf("%w (see %s)", err, c.logs.path))
		case <-ctx.Done():
		}
	}()
	go func() {
		if err := disk.Watch(ctx, c.folder.path, disk.MinRun, c.opts.Free); err != nil {
			cancel(err)
		}
	}()

	if c.opts.Registry {
		stop, err := c.startRegistry(ctx, cancel)
		if err != nil {
			return err
		}
		defer c.bounded(stop)
	}
	if c.opts.Join != "" {
		return c.serve(ctx, cancel)
	}
	store, err := inBackground(ctx, func() (*etcd.Server, error) {
		return etcd.Start(ctx, etcd.Options{Dir: "etcd", Fsync: c.opts.Fsync, Logger: c.logs.etcd})
	})
	if err != nil {
		return err
	}
	defer func() { c.bounded(store.Stop) }()
	go func() {
		select {
		case err := <-store.Err():
			cancel(fmt.Errorf("etcd ended: %w", err))
		case <-ctx.Done():
		}
	}()
	return c.serve(ctx, cancel)
}

// bounded runs one step of the stop, and gives it up when it takes too long: soon, once a part stands still. All that is
// lost then is time: etcd's data is in its files before a write is answered.
func (c *cluster) bounded(step func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		step()
	}()
	select {
	case <-done:
		return
	case <-time.After(stopTimeout):
		return
	case <-c.logs.crash.Stuck():
	}
	select {
	case <-done:
	case <-time.After(stuckTimeout):
	}
}

// inBackground runs a step of the start that cannot be interrupted, and stops waiting for it when the context ends. Then
// the process ends soon, and takes the step with it.
func inBackground[T any](ctx context.Context, step func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := step()
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		// Most steps are over in a moment, and then their stop is an orderly one.
		select {
		case r := <-results:
			return r.value, r.err
		case <-time.After(stopTimeout):
			var none T
			return none, context.Cause(ctx)
		}
	}
}

// serve runs everything above the store. The API server gets a separate context, because it must outlive the
// controllers.
func (c *cluster) serve(ctx context.Context, cancel context.CancelCauseFunc) error {
	own, err := c.config("apiserver")
	if err != nil {
		return err
	}
	serverCtx, stopServer := context.WithCancel(context.WithoutCancel(ctx))
	server, err := inBackground(ctx, func() (*apiserver.Server, error) {
		return apiserver.Start(serverCtx, apiserver.Options{
			Dir: c.folder.path, Listener: c.listener, PKI: c.keys, EtcdEndpoint: etcd.Endpoint, Resolver: &c.resolver,
			Client: own, Nodes: c.processes != nil, Flags: c.opts.ServerFlags,
		})
	})
	if err != nil {
		stopServer()
		return err
	}
	defer c.bounded(func() {
		stopServer()
		<-server.Done()
	})
	go func() {
		<-server.Done()
		if err := server.Err(); err != nil {
			cancel(err)
		}
	}()

	controllersCtx, stopControllers := context.WithCancel(ctx)
	defer stopControllers()
	var running sync.WaitGroup
	defer c.bounded(func() {
		stopControllers()
		running.Wait()
	})
	if c.opts.Join != "" {
		err = c.bringUpJoined(controllersCtx, server)
	} else {
		err = c.bringUp(controllersCtx, cancel, server, &running)
	}
	if err != nil {
		return err
	}
	kubeconfig, err := writeKubeconfig(c.folder.path, c.keys, c.url())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.opts.Stderr, "localcluster: Kubernetes %s is ready at %s\n", version.Get().GitVersion, c.url())
	if _, err := fmt.Fprintln(c.opts.Stdout, kubeconfig); err != nil {
		return fmt.Errorf("printing the kubeconfig's path: %w", err)
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// bringUp waits for the API server, starts the controllers and the Pod loop, and waits until a Pod could be made. Everything that it started runs
// until the context ends, and then leaves the wait group.
func (c *cluster) bringUp(
	ctx context.Context, stop context.CancelCauseFunc, server *apiserver.Server, running *sync.WaitGroup,
) error {
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
	manager, err := inBackground(ctx, func() (*controllers.Manager, error) {
		return controllers.New(ctx, controllers.Options{
			Config: c.config, CAPEM: c.keys.CAPEM, TokenKeyFile: c.keys.TokenKeyFile, Workloads: c.processes != nil,
		})
	})
	if err != nil {
		return err
	}
	addresses := pods.NewAddresses()
	loop, err := pods.New(client, manager.Informers.Core().V1().Pods(), addresses, c.podOptions())
	if err != nil {
		return err
	}
	c.resolver.Use(client, manager.Informers.Core().V1().Services().Lister(), c.endpoints(manager))
	manager.Start(ctx)
	running.Go(manager.Wait)
	running.Go(func() { loop.Run(ctx) })
	if err := server.WaitFor(start, "the Node and the default service account", func(ctx context.Context) error {
		if err := pods.EnsureNode(ctx, client); err != nil {
			return err
		}
		if _, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return fmt.Errorf("looking for the service account: %w", err)
		}
		return nil
	}); err != nil || c.processes == nil {
		return err
	}
	return c.bringUpNode(ctx, start, stop, client, addresses, running)
}

// startContext bounds the start of the API server and of what needs it.
func (c *cluster) startContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the API server was not ready within %s (see %s)", startTimeout, c.logs.path))
}

func (c *cluster) config(user string, groups ...string) (*rest.Config, error) {
	return clientConfig(c.keys, c.url(), user, groups...)
}

func (c *cluster) url() string { return "https://" + c.listener.Addr().String() }
