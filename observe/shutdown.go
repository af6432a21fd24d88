/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// drainPoll is how often Shutdown and Stop look whether calls are running.
const drainPoll = 10 * time.Millisecond

// Shutdown waits, after the context of the process has ended, until every observer has received what is pending, at most until ctx ends. From then
// on it calls no observer. It returns an error for each observer with events that were not delivered. A process that leads keeps its lease until
// Shutdown returns, as package process does. What is pending when it loses the lease before is not delivered.
func Shutdown(ctx context.Context) error {
	hubs.Lock()
	all := hubs.list
	hubs.list = nil
	hubs.Unlock()
	var failures []error
	for _, h := range all {
		h.mu.Lock()
		stations := slices.Collect(maps.Values(h.stations))
		h.mu.Unlock()
		for _, at := range stations {
			err := awaitDrained(ctx, at)
			at.stop()
			failures = append(failures, undelivered(at, err))
		}
	}
	return errors.Join(failures...)
}

// Pending returns the number of objects with events that an observer has not received yet, for readiness probes and tests. ctx is the context of
// the process.
func Pending(ctx context.Context, name string) (n int) {
	h, err := hubFrom(ctx)
	if err != nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, at := range h.stations {
		if at.name() == name {
			n += at.undelivered()
		}
	}
	return n
}

// awaitDrained waits until a station is drained. It returns an error if ctx ends before.
func awaitDrained(ctx context.Context, at station) error {
	err := wait.PollUntilContextCancel(ctx, drainPoll, true, func(context.Context) (bool, error) { return at.drained(), nil })
	if at.drained() {
		return nil
	}
	return err //nolint:wrapcheck // undelivered does
}

// undelivered returns an error for a station with events that were not delivered, because of the reason if there is one.
func undelivered(at station, reason error) error {
	n := at.undelivered()
	if n == 0 {
		return nil
	}
	return errors.Join(fmt.Errorf("observer %q: the events of %d objects were not delivered", at.name(), n), reason)
}

func (h *hub) add(declared any, at station) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stations[declared] = at
}

func (h *hub) remove(declared any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.stations, declared)
}
