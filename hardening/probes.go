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
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
)

// ProbesVariable is the environment variable of the port of /readiness and /health, 8080 by default. That of sharedmain is fixed, so that two processes
// on one machine need it.
const ProbesVariable = "HEALTH_PORT"

// The keys of values that a main may have put into the context.
var (
	probesDisabled = keyOf(sharedmain.WithHealthProbesDisabled(context.Background()))
	ownReadiness   = keyOf(injection.AddReadiness(context.Background(), nil))
	ownLiveness    = keyOf(injection.AddLiveness(context.Background(), nil))
)

// withProbes serves the probes in place of sharedmain, whose server ends at SIGTERM, when its readiness is to become false. A process is ready
// while its caches are filled and it has not received SIGTERM. Handlers of the main are kept. serve is called when the informers start: a main that
// serves probes itself does so in a goroutine, and ends the process if it finds the port taken.
func (p *process) withProbes(ctx, signal context.Context, informers []controller.Informer) (disabled context.Context, serve func()) {
	if ctx.Value(probesDisabled) != nil {
		return ctx, func() {}
	}
	variable := cmp.Or(os.Getenv(ProbesVariable), strconv.Itoa(injection.HealthCheckDefaultPort))
	port, err := strconv.ParseUint(variable, 10, 16)
	if err != nil || port == 0 {
		log.Fatalf("environment variable %s=%q: must be a port number from 1 to 65535", ProbesVariable, variable)
	}
	// One of a StatefulSet has its share by its name.
	awaitsLeases := !sharedmain.IsHADisabled(ctx) && os.Getenv("STATEFUL_CONTROLLER_ORDINAL") == "" && p.constructors.Load() > 0
	mux := http.NewServeMux()
	mux.HandleFunc("/readiness", handlerFrom(ctx, ownReadiness, func() error {
		if signal.Err() != nil {
			return context.Cause(signal)
		}
		kinds := p.informers.unsynced()
		if len(kinds) > 0 || !p.running.Load() || slices.ContainsFunc(informers, func(i controller.Informer) bool { return !i.HasSynced() }) {
			return fmt.Errorf("the caches are not filled yet: %s", strings.Join(kinds, ", "))
		}
		if awaitsLeases && !p.leases.Load() {
			return errors.New("no lease has been read yet")
		}
		for _, check := range p.checks {
			if err := check(); err != nil {
				return err
			}
		}
		return nil
	}))
	mux.HandleFunc("/health", handlerFrom(ctx, ownLiveness, func() error { return nil }))
	return sharedmain.WithHealthProbesDisabled(ctx), func() {
		listener, err := listen(int(port))
		if err != nil {
			log.Fatalf("environment variable %s=%s: %v", ProbesVariable, variable, err)
		}
		if listener == nil {
			log.Printf("port %d is served by this process already, so that no other probes are served", port)
			return
		}
		server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go func() {
			if err := server.Serve(listener); err != nil && ctx.Err() == nil {
				p.logger().Errorw("Serving probes failed", zap.Error(err))
			}
		}()
	}
}

// AddReadiness makes the process unready while check returns an error. It is for constructors, and ctx is theirs; it does nothing without [Constructors].
func AddReadiness(ctx context.Context, check func() error) {
	if c, ok := ctx.Value(constructionKey{}).(*construction); ok {
		c.process.checks = append(c.process.checks, check)
	}
}

// handlerFrom returns the handler that a main has put into the context, or one that answers with 503 while check returns an error.
func handlerFrom(ctx context.Context, key any, check func() error) http.HandlerFunc {
	if own, ok := ctx.Value(key).(*http.HandlerFunc); ok {
		return *own
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}
}
