/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.uber.org/zap"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/observability/runtime"
	"knative.dev/pkg/webhook"
)

// ProbesVariable is the environment variable of the port of /readiness and /health, 8080 by default. That of sharedmain is fixed, so that two processes
// on one machine need it.
const ProbesVariable = "HEALTH_PORT"

// checkPorts ends the process if it cannot listen on a port: sharedmain runs on without the part that needs it, and exits with 0. Port 0 is any.
func checkPorts(ctx context.Context) {
	ports := map[string]string{
		ProbesVariable:              cmp.Or(os.Getenv(ProbesVariable), "0"), // a main may serve its own probes on the port of sharedmain
		"METRICS_PROMETHEUS_PORT":   cmp.Or(os.Getenv("METRICS_PROMETHEUS_PORT"), "0"),
		runtime.ProfilingPortEnvKey: cmp.Or(os.Getenv(runtime.ProfilingPortEnvKey), strconv.Itoa(runtime.ProfilingDefaultPort)),
	}
	if options := webhook.GetOptions(ctx); options != nil {
		ports["WEBHOOK_PORT"] = strconv.Itoa(options.Port) // the main has read the variable, or chosen another port
	}
	for variable, port := range ports {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+port)
		if err != nil {
			log.Fatalf("environment variable %s=%s: %v", variable, port, err)
		}
		_ = listener.Close()
	}
}

// The keys of values that a main may have put into the context.
var (
	probesDisabled = keyOf(sharedmain.WithHealthProbesDisabled(context.Background()))
	ownReadiness   = keyOf(injection.AddReadiness(context.Background(), nil))
)

// withProbes serves the probes in place of sharedmain, whose server ends at SIGTERM, when its readiness is to become false. A process is ready
// while its caches are filled and it has not received SIGTERM; probes are answered until it exits. Handlers of the main are kept. serve is called when
// the informers start: a main that serves probes itself does so in a goroutine, and ends the process if it finds the port taken.
func (p *process) withProbes(ctx, signal context.Context, informers []controller.Informer) (disabled context.Context, serve func()) {
	if p.off[probes] || ctx.Value(probesDisabled) != nil {
		return ctx, func() {}
	}
	variable := cmp.Or(os.Getenv(ProbesVariable), strconv.Itoa(injection.HealthCheckDefaultPort))
	port, err := strconv.Atoi(variable)
	if err != nil || port < 1 || port > 65535 {
		log.Fatalf("environment variable %s=%q: must be a port number from 1 to 65535", ProbesVariable, variable) //nolint:gosec // quoted
	}
	probes := ctx
	if ctx.Value(ownReadiness) == nil {
		probes = injection.AddReadiness(ctx, func(w http.ResponseWriter, _ *http.Request) {
			if err := p.readiness(ctx, signal, informers); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
			}
		})
	}
	return sharedmain.WithHealthProbesDisabled(ctx), sync.OnceFunc(func() {
		go func() {
			if err := injection.ServeHealthProbes(context.WithoutCancel(probes), port); err != nil {
				p.logger().Warnw("No probes are served, unless the main does", zap.Error(err))
			}
		}()
	})
}

// readiness returns an error with the reason for which the process is not ready.
func (p *process) readiness(ctx, signal context.Context, informers []controller.Informer) error {
	kinds := p.informers.unsynced()
	// A process of a StatefulSet has its share by its name.
	awaitsLeases := !sharedmain.IsHADisabled(ctx) && os.Getenv("STATEFUL_CONTROLLER_ORDINAL") == "" && p.constructors.Load() > 0
	switch {
	case signal.Err() != nil:
		return errors.New("the process is stopping")
	case len(kinds) > 0 || !p.running.Load() || slices.ContainsFunc(informers, func(i controller.Informer) bool { return !i.HasSynced() }):
		return fmt.Errorf("the caches are not filled yet: %s", strings.Join(kinds, ", "))
	case awaitsLeases && !p.leases.Load():
		return errors.New("no lease has been read yet")
	}
	for _, check := range p.checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// AddReadiness makes the process unready while check returns an error. It is for constructors, and ctx is theirs; it does nothing without [Constructors].
func AddReadiness(ctx context.Context, check func() error) {
	if c, ok := ctx.Value(constructionKey{}).(*construction); ok {
		c.process.checks = append(c.process.checks, check)
	}
}
