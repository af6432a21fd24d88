/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"net/url"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
)

// serverTimeout bounds the start of an API server.
const serverTimeout = 2 * time.Minute

// APIServer is one more API server on the etcd of an environment. A test stops and starts it while the environment's own serves the test's
// requests. Its watch cache begins with its start, so that it answers older resourceVersions with 410.
type APIServer struct {
	// Config has the administrator's permissions.
	Config *rest.Config

	environment *environment.Env
	dir         string
	port        int
	flags       []string
	running     *controlplane.Cluster
}

// StartAPIServer starts an API server, which is stopped at the end of the test. flags are those of kube-apiserver, for example
// --feature-gates=WatchList=false. It calls webhooks only if their Services are annotated, as those of processes are.
func (e *Env) StartAPIServer(t testing.TB, flags ...string) *APIServer {
	t.Helper()
	s := &APIServer{environment: e.environment, dir: t.TempDir(), flags: flags}
	t.Cleanup(func() {
		if s.running != nil {
			s.stop(context.WithoutCancel(t.Context()), t)
		}
	})
	s.Start(t)
	address, err := url.Parse(s.Config.Host)
	if err == nil {
		s.port, err = strconv.Atoi(address.Port())
	}
	if err != nil {
		t.Fatalf("reading the address of an API server: %v", err)
	}
	return s
}

// Start starts the API server again after Stop, at the same address. It returns when the API server is ready.
func (s *APIServer) Start(t testing.TB) {
	t.Helper()
	EventuallyWithin(t, serverTimeout, "an API server starts", func(ctx context.Context) (err error) {
		// Another program may use the port for a moment.
		s.running, s.Config, err = s.environment.StartAPIServer(ctx, s.dir, s.port, s.flags...)
		return err
	})
}

// Stop stops the API server. Connections are refused then.
func (s *APIServer) Stop(t testing.TB) {
	t.Helper()
	s.stop(t.Context(), t)
}

func (s *APIServer) stop(ctx context.Context, t testing.TB) {
	t.Helper()
	if err := s.running.Stop(ctx); err != nil {
		t.Errorf("stopping an API server: %v", err)
	}
	s.running = nil
}

// Proxied is like [Env.Proxied], with a proxy in front of this API server.
func (s *APIServer) Proxied(t testing.TB) (*rest.Config, *Proxy) {
	t.Helper()
	return proxied(t, s.Config)
}

// Compact removes all revisions but the current one from etcd, so that an API server answers older ones that its watch cache does not have
// with 410.
func (e *Env) Compact(t testing.TB) {
	t.Helper()
	e.mustBeOwn(t, "the history of etcd")
	if err := e.environment.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
}
