/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"

	"k8s.io/client-go/rest"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	observability "knative.dev/pkg/observability/metrics"
)

// injector is the injection.Default of a hardened process. SetupInformers is the first step of sharedmain that has the rest.Config and may
// return another context.
type injector struct {
	injection.Interface

	process *process
}

// SetupInformers implements injection.Interface.
func (i *injector) SetupInformers(ctx context.Context, cfg *rest.Config) (context.Context, []controller.Informer) {
	p := i.process
	if !p.off[limits] {
		removeDefaultLimit(cfg, int(p.constructors.Load()))
	}
	if err := checkVerbosity(flag.CommandLine); err != nil && !p.off[secrets] {
		log.Fatal(err)
	}
	cfg.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &transport{inner, p} })
	if !p.off[ports] {
		p.checkPorts(ctx)
	}
	signal := ctx
	p.signal.Store(&signal)
	if !p.off[stopping] {
		ctx = p.connections.withGracePeriod(p.work.detach(ctx), signal)
	}
	i.RegisterDuck(p.rehearsal(i.Interface, i.GetInformerFactories()))
	ctx, informers := i.Interface.SetupInformers(ctx, cfg)
	go p.informers.reportUnsynced(ctx)
	serve := func() {}
	if !p.off[probes] {
		ctx, serve = p.withProbes(ctx, signal, informers)
	}
	if os.Getenv(ProbesVariable) != "" {
		serve() // The main serves no probes, and is alive while it waits for the API server.
		serve = func() {}
	}
	if !p.off[configmaps] {
		if metrics := checkConfigMaps(ctx); metrics.Protocol == observability.ProtocolPrometheus && !p.off[ports] {
			checkPort(metricsPort, 9090)
		}
	}
	if len(informers) > 0 {
		informers[0] = starting{informers[0], func() { p.running.Store(true); serve() }}
	} else {
		serve()
	}
	if !p.off[requests] {
		ctx = withQuietRequests(ctx)
	}
	return ctx, informers
}

// starting is the first informer of a process. Those of SetupInformers start together, after ConfigMaps were read and handlers were added.
type starting struct {
	controller.Informer

	begin func()
}

// Run implements controller.Informer.
func (s starting) Run(stop <-chan struct{}) {
	s.begin()
	s.Informer.Run(stop)
}

// removeDefaultLimit lifts the limit of requests that sharedmain and package injection set unless the main or the user chooses one: 5 per second and constructor, with
// bursts of 10. The API server's priority and fairness decides instead, which knows all clients.
func removeDefaultLimit(cfg *rest.Config, constructors int) {
	if chosen := flag.Lookup("kube-api-qps"); chosen != nil && chosen.Value.String() != "0" {
		return
	}
	for n := 1; n <= max(constructors, 1); n++ {
		if cfg.QPS == float32(n)*rest.DefaultQPS && cfg.Burst == n*rest.DefaultBurst {
			cfg.QPS, cfg.Burst = -1, 0
			return
		}
	}
}
