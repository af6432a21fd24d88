/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package etcd

import (
	"context"
	"fmt"
	"net"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Entry is a key and what the store holds for it.
type Entry struct {
	Key string `json:"key"`
	// Revision is that of the last write, also of one that changed nothing.
	Revision int64  `json:"revision"`
	Value    []byte `json:"value"`
}

// Runs reports whether a store listens in the working directory.
func Runs(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("no cluster runs there: %w", err)
	}
	_ = conn.Close() // nothing was said
	return nil
}

// Read returns the entries whose keys begin with a prefix, sorted. Its store has to be running, with the working directory
// as its cluster's folder.
func Read(ctx context.Context, prefix string) ([]Entry, error) {
	client, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	response, err := client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("reading from etcd: %w", err)
	}
	entries := make([]Entry, 0, len(response.Kvs))
	for _, kv := range response.Kvs {
		entries = append(entries, Entry{Key: string(kv.Key), Revision: kv.ModRevision, Value: kv.Value})
	}
	return entries, nil
}

// Compact removes all revisions but the current one, on the conditions of Read.
func Compact(ctx context.Context) error {
	client, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	// Any answer has the current revision.
	response, err := client.Get(ctx, "none", clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("reading the revision of etcd: %w", err)
	}
	if _, err := client.Compact(ctx, response.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		return fmt.Errorf("compacting etcd at revision %d: %w", response.Header.Revision, err)
	}
	return nil
}

func connect(ctx context.Context) (*clientv3.Client, error) {
	client, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: []string{Endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd: %w", err)
	}
	return client, nil
}
