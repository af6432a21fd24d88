/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	pkgserviceaccount "k8s.io/kubernetes/pkg/serviceaccount"
)

const (
	// managerUser is the user that reads for all controllers, as in a real cluster.
	managerUser = "system:kube-controller-manager"

	// The rest are the defaults of kube-controller-manager.
	workers              = 5
	gcWorkers            = 20
	namespaceWorkers     = 10
	namespaceResync      = 5 * time.Minute
	maxEndpointsPerSlice = 100
	informerResync       = 12 * time.Hour
)

// Options configure the controllers.
type Options struct {
	// Config returns the client configuration of a user; it is called once per controller.
	Config func(user string, groups ...string) (*rest.Config, error)
	// CAPEM is published to each namespace, for Pods to verify the API server with.
	CAPEM []byte
	// TokenKeyFile signs the tokens of token Secrets.
	TokenKeyFile string
	// Workloads enables the controllers of Deployments, Jobs and the like, too.
	Workloads bool
}

// constructor makes one controller with its client and adds it to the manager.
type constructor func(context.Context, kubernetes.Interface, *rest.Config) error

// Manager is the set of running controllers.
type Manager struct {
	// Informers are shared by the controllers, and may be used by others until Start.
	Informers informers.SharedInformerFactory

	opts     Options
	metadata metadatainformer.SharedInformerFactory
	started  chan struct{}
	run      []func(context.Context)
	wg       sync.WaitGroup
}

// New makes the controllers. The API server must be ready. The context must not end before that of Start.
func New(ctx context.Context, opts Options) (*Manager, error) {
	config, err := opts.Config(managerUser)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", managerUser, err)
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the metadata client of %s: %w", managerUser, err)
	}
	m := &Manager{
		Informers: informers.NewSharedInformerFactory(client, informerResync),
		opts:      opts,
		metadata:  metadatainformer.NewSharedInformerFactory(metadataClient, informerResync),
		started:   make(chan struct{}),
	}
	all := map[string]constructor{
		"clusterrole-aggregation-controller": m.addClusterRoleAggregation,
		"endpoint-controller":                m.addEndpoints,
		"endpointslice-controller":           m.addEndpointSlices,
		"generic-garbage-collector":          m.addGarbageCollector,
		"namespace-controller":               m.addNamespaces,
		"resourcequota-controller":           m.addResourceQuotas,
		"root-ca-cert-publisher":             m.addRootCAPublisher,
		"service-account-controller":         m.addServiceAccounts,
	}
	if opts.Workloads {
		maps.Copy(all, m.workloads())
	}
	for name, add := range all {
		if err := m.add(ctx, name, add); err != nil {
			return nil, fmt.Errorf("making the controller %s: %w", name, err)
		}
	}
	if err := m.addTokens(ctx, client); err != nil {
		return nil, fmt.Errorf("making the controller of token Secrets: %w", err)
	}
	return m, nil
}

// Start starts the informers and the controllers. They run until the context ends.
func (m *Manager) Start(ctx context.Context) {
	m.Informers.Start(ctx.Done())
	m.metadata.Start(ctx.Done())
	close(m.started)
	for _, run := range m.run {
		m.wg.Go(func() { run(ctx) })
	}
}

// Wait returns when all controllers have ended.
func (m *Manager) Wait() { m.wg.Wait() }

// add creates a controller with a client with a separate identity: the service account that kube-controller-manager uses for
// it when it runs with --use-service-account-credentials, for which the API server makes a role at its start.
func (m *Manager) add(ctx context.Context, name string, add constructor) error {
	config, err := m.opts.Config("system:serviceaccount:kube-system:"+name,
		"system:serviceaccounts", "system:serviceaccounts:kube-system")
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making its client: %w", err)
	}
	return add(ctx, client, config)
}

func (m *Manager) addClusterRoleAggregation(_ context.Context, client kubernetes.Interface, _ *rest.Config) error {
	c := clusterroleaggregation.NewClusterRoleAggregation(m.Informers.Rbac().V1().ClusterRoles(), client.RbacV1())
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addEndpoints(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	core := m.Informers.Core().V1()
	c := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, 0)
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addEndpointSlices(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	core := m.Informers.Core().V1()
	c := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(),
		m.Informers.Discovery().V1().EndpointSlices(), maxEndpointsPerSlice, client, 0)
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addNamespaces(ctx context.Context, client kubernetes.Interface, config *rest.Config) error {
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making its metadata client: %w", err)
	}
	c := namespace.NewNamespaceController(ctx, client, metadataClient, client.Discovery().ServerPreferredNamespacedResources,
		m.Informers.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, namespaceWorkers) })
	return nil
}

func (m *Manager) addRootCAPublisher(_ context.Context, client kubernetes.Interface, _ *rest.Config) error {
	core := m.Informers.Core().V1()
	c, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), client, m.opts.CAPEM)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, 1) })
	return nil
}

func (m *Manager) addServiceAccounts(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	core := m.Informers.Core().V1()
	c, err := newServiceAccountsController(ctx, core.ServiceAccounts(), core.Namespaces(), client)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, 1) })
	return nil
}

// addTokens is the one controller that works as the manager itself: the API server creates no separate role for it.
func (m *Manager) addTokens(ctx context.Context, client kubernetes.Interface) error {
	key, err := keyutil.PrivateKeyFromFile(m.opts.TokenKeyFile)
	if err != nil {
		return fmt.Errorf("reading the key of service account tokens: %w", err)
	}
	generator, err := pkgserviceaccount.JWTTokenGenerator(pkgserviceaccount.LegacyIssuer, key)
	if err != nil {
		return fmt.Errorf("using the key of service account tokens: %w", err)
	}
	core := m.Informers.Core().V1()
	c, err := serviceaccount.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), client,
		serviceaccount.TokensControllerOptions{TokenGenerator: generator, RootCA: m.opts.CAPEM})
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

// objectInformers provides the garbage collector's informers: typed ones where they are shared with another
// controller anyway, else such that keep only metadata.
func (m *Manager) objectInformers() informerfactory.InformerFactory {
	return informerfactory.NewInformerFactory(m.Informers, m.metadata)
}
