/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package etcd

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// socket is relative to the working directory: the path of a Unix socket must fit into about 100 bytes, and a cluster's
// folder may be deeper than that.
const socket = "etcd.sock"

// Endpoint is the URL at which clients within the process reach the server, given that they have the same working directory.
const Endpoint = "unix://" + socket

// quota is the size in bytes that the store may grow to, far above what a test or a benchmark writes; what etcd has by
// default, 2 GiB, turns into a read-only cluster in the middle of a long benchmark.
const quota = 8 << 30

// Options configure the store.
type Options struct {
	// Dir is the data folder, relative to the working directory, which must be the cluster's folder.
	Dir string
	// Fsync has each write synced to disk before it is acknowledged. Without it, data survives the end of the process but
	// not of the machine.
	Fsync bool
	// Logger receives all messages.
	Logger *zap.Logger
}

// Server is a running store.
type Server struct{ etcd *embed.Etcd }

// Start starts the server and waits until it serves. When the context ends first, the server is stopped again and the
// context's cause returned.
func Start(ctx context.Context, opts Options) (*Server, error) {
	cfg := embed.NewConfig()
	cfg.Name = "localcluster"
	cfg.Dir = opts.Dir
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Host: socket}}
	// One member has no peers: these addresses only name it, and nothing listens there.
	cfg.ListenPeerUrls = nil
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	cfg.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = !opts.Fsync
	cfg.QuotaBackendBytes = quota
	// The only member votes for itself as soon as its election timeout has passed; a short one shortens the start.
	cfg.TickMs, cfg.ElectionMs = 20, 200
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(opts.Logger)

	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	s := &Server{etcd: e}
	select {
	case <-e.Server.ReadyNotify():
		return s, nil
	case err := <-e.Err():
		s.Stop()
		return nil, fmt.Errorf("starting etcd: %w", err)
	case <-ctx.Done():
		s.Stop()
		return nil, context.Cause(ctx)
	}
}

// Err delivers an error when the server ends by itself.
func (s *Server) Err() <-chan error { return s.etcd.Err() }

// Stop ends the server and returns when its files are closed.
func (s *Server) Stop() { s.etcd.Close() }
