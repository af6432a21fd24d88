/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/mallard-dev/mallard/localcluster/internal/disk"
	"github.com/mallard-dev/mallard/localcluster/internal/pki"
)

// Options configure the cluster to run.
type Options struct {
	// Dir is the folder of the cluster's files. When empty, a temporary one is used and removed at the end.
	Dir string
	// Join is the folder of a running cluster: then an API server is run on its etcd, without controllers, nodes and another etcd. It
	// resolves the Services for webhooks by their annotations only.
	Join string
	// ServerFlags are flags of kube-apiserver, which win over those of this package.
	ServerFlags []string
	// Port of the API server on 127.0.0.1; 0 for any free one.
	Port int
	// Registry has the cluster serve a registry, and run Pods with images from it as processes.
	Registry bool
	// RegistryPort is the registry's on 127.0.0.1; 0 for the one it had in this folder before, or any free one.
	RegistryPort int
	// Fsync has etcd sync its files.
	Fsync bool
	// Stdout gets one line, the kubeconfig's path, when the cluster is ready.
	Stdout io.Writer
	// Stderr gets a few lines for people, and the trace of a panic. It is another way to standard error than the file
	// descriptor, which leads to the log once the cluster starts; see package stdio.
	Stderr *os.File
	// Free returns the free disk space; disk.Free when nil.
	Free disk.FreeFunc
}

// Run runs a cluster until the context ends or something fails, and returns when all of it has stopped: the context's
// cause in the first case, in the second an error that names what failed and what would be right. It changes the
// process (working directory, log outputs), so it is called once.
func Run(ctx context.Context, opts Options) (err error) {
	if opts.Free == nil {
		opts.Free = disk.Free
	}
	folder, err := openFolder(opts.Dir)
	if err != nil {
		return explain(err, opts.Dir)
	}
	defer folder.release()
	defer func() { err = explain(err, folder.path) }()
	if folder.lock.Stale {
		fmt.Fprintf(opts.Stderr, "localcluster: the cluster in %s was not stopped properly; continuing with its data\n", folder.path)
	}
	if err := disk.Check(folder.path, disk.MinStart, opts.Free); err != nil {
		return err
	}
	listener, err := listen(ctx, opts.Port)
	if err != nil {
		return err
	}
	// etcd's socket is relative to the working directory.
	if opts.Join != "" {
		err = join(ctx, opts.Join, folder.path)
	} else {
		err = os.Chdir(folder.path)
	}
	if err != nil {
		return fmt.Errorf("entering the folder: %w", err)
	}
	keys, err := pki.Open(pkiDir(folder.path), serverIPs, serverNames)
	if err != nil {
		return err
	}
	logs, err := openLogs(folder.path, opts.Stderr)
	if err != nil {
		return err
	}
	c := &cluster{opts: opts, folder: folder, listener: listener, keys: keys, logs: logs}
	return c.run(ctx)
}

func listen(ctx context.Context, port int) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--port %d is taken by another program: choose another one, or 0 for any free one", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--port %d is not open to this user: choose one from 1024 on, or 0 for any free one", port)
	case err != nil:
		return nil, fmt.Errorf("--port %d: %w", port, err)
	}
	return listener, nil
}

// explain adds to an error what would be right, where the parts that return it cannot know that.
func explain(err error, dir string) error {
	var low *disk.LowError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &low):
		return fmt.Errorf("%w: free some space, or name a folder on another disk with --dir", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk of %s is full: free some space, or name a folder on another disk with --dir (%w)", dir, err)
	}
	return err
}
