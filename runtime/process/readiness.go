/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"knative.dev/pkg/logging"
)

// Readiness collects what has to be true before a process is ready, so that the probe can name what is missing. The zero value is ready. It
// may be used by several goroutines.
type Readiness struct {
	mu      sync.Mutex
	missing []string
}

type readinessKey struct{}

// WithReadiness returns a context in which the conditions that parts of the process set count for this Readiness.
func WithReadiness(ctx context.Context, r *Readiness) context.Context {
	return context.WithValue(ctx, readinessKey{}, r)
}

// ReadinessFrom returns the Readiness of the process whose context this is. Without one, as in a test of one controller, the result counts for
// nothing.
func ReadinessFrom(ctx context.Context) *Readiness {
	if r, ok := ctx.Value(readinessKey{}).(*Readiness); ok {
		return r
	}
	return &Readiness{}
}

// Set records whether a condition holds. The probe shows its name while it does not. A condition counts from its first Set on.
func (r *Readiness) Set(name string, holds bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missing = slices.DeleteFunc(r.missing, func(s string) bool { return s == name })
	if !holds {
		r.missing = append(r.missing, name)
	}
}

// Check returns an error that names what is missing, or nil.
func (r *Readiness) Check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.missing) > 0 {
		return fmt.Errorf("not ready: %s", strings.Join(r.missing, ", "))
	}
	return nil
}

// serveProbes serves the probes until the returned function is called.
func serveProbes(ctx context.Context, listener net.Listener, r *Readiness) func() {
	server := &http.Server{Handler: probes(ctx, r), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logging.FromContext(ctx).Errorw("The server of the probes failed", "error", err)
		}
	}()
	return func() { _ = server.Close() }
}

// probes serves /readiness and /health. A process that has received SIGTERM is no longer ready but healthy, so that it gets no new work and
// time to end.
func probes(ctx context.Context, r *Readiness) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readiness", func(w http.ResponseWriter, _ *http.Request) {
		err := r.Check()
		if ctx.Err() != nil {
			err = fmt.Errorf("stopping: %w", ctx.Err())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	return mux
}
