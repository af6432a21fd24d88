/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// Option changes an environment before it starts.
type Option func(*settings)

type settings struct {
	// separate keeps the suite from sharing an environment that runs already.
	separate bool
	config   string
	// overlay is the name of the one whose manifests are added.
	overlay string
	// allVersions has the CRDs serve all of their versions.
	allVersions bool
	images      bool
	bare        bool
	hold        []string
	replicas    map[string]int
	env         map[string]map[string]string
	proxied     []string
	applied     func(context.Context, *environment.Env) error
}

// Separate starts a separate environment for a suite that changes what others rely on, such as ConfigMaps or CRDs of the operator, or that counts
// all requests to the API server. The options that change the operator have the same effect, and [Own] always starts one.
func Separate() Option { return func(s *settings) { s.separate = true } }

// WithConfig applies the manifests of another folder than config.
func WithConfig(dir string) Option { return func(s *settings) { s.separate, s.config = true, dir } }

// AllVersions has the operator's CRDs serve all of their versions. It is for tests that use a version that the manifests do not serve. A suite with this
// option can share a running environment, which must serve these versions, as that of make test and of make run VERSIONS=all does.
func AllVersions() Option { return func(s *settings) { s.allVersions = true } }

// WithOverlay adds the manifests of an overlay in kustomize/overlays that only adds manifests. A suite with this option can share a running environment,
// which must have them, as that of make test and of make run OVERLAY=NAME does.
func WithOverlay(name string) Option { return func(s *settings) { s.overlay = name } }

// WithImages runs the operator as a cluster does: ko applies it, and it runs from images in Pods. There are no processes
// then, and options about them have no effect. Linux only.
func WithImages() Option { return func(s *settings) { s.separate, s.images = true, true } }

// Bare starts the control plane alone, for the test to install the operator. Together with [WithImages] it has a registry
// and [Env.Ko]. A suite that needs the control plane only shares one that runs the operator, too.
func Bare() Option { return func(s *settings) { s.bare = true } }

// WithEnv gives a process an environment variable, instead of the one that its Deployment declares.
func WithEnv(process, name, value string) Option {
	return func(s *settings) {
		s.separate = true
		if s.env[process] == nil {
			s.env[process] = map[string]string{}
		}
		s.env[process][name] = value
	}
}

// WithReplicas runs a Deployment as this many processes: NAME, NAME-1, NAME-2 and so on.
func WithReplicas(deployment string, n int) Option {
	return func(s *settings) { s.separate, s.replicas[deployment] = true, n }
}

// WithProxy puts a proxy between a process and the API server; see [Env.Proxy].
func WithProxy(process string) Option {
	return func(s *settings) { s.separate, s.proxied = true, append(s.proxied, process) }
}

// Without leaves a process to the test to start.
func Without(process string) Option {
	return func(s *settings) { s.separate, s.hold = true, append(s.hold, process) }
}

// WithoutWebhooks leaves a process to the test to start, as Without does, and removes all webhook configurations, so that
// the API server admits what it would have rejected.
func WithoutWebhooks(process string) Option {
	return func(s *settings) {
		s.separate, s.hold = true, append(s.hold, process)
		s.applied = func(ctx context.Context, env *environment.Env) error { return removeWebhooks(ctx, env.Config) }
	}
}

func removeWebhooks(ctx context.Context, config *rest.Config) error {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client to remove the webhooks: %w", err)
	}
	admission := kube.AdmissionregistrationV1()
	if err := admission.MutatingWebhookConfigurations().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("removing the mutating webhooks: %w", err)
	}
	if err := admission.ValidatingWebhookConfigurations().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("removing the validating webhooks: %w", err)
	}
	return nil
}

// overrides starts the proxies, and returns the changes to the settings of the processes.
func (e *Env) overrides(ctx context.Context, config *rest.Config, s settings) (map[string]processes.Override, error) {
	overrides := map[string]processes.Override{}
	for process, env := range s.env {
		overrides[process] = processes.Override{Env: env}
	}
	for _, process := range s.proxied {
		// The administrator's credentials must not reach the API server with another's request.
		proxy, err := newProxy(ctx, rest.AnonymousClientConfig(config), process)
		if err != nil {
			return nil, err
		}
		e.proxies[process] = proxy
		o := overrides[process]
		o.Server = &proxy.address
		overrides[process] = o
	}
	return overrides, nil
}
