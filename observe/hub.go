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
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
)

// waitingEvery is the interval between log messages about a start that takes long.
const waitingEvery = 10 * time.Second

// hub holds the informers and observers of a process. It is in the context of its controllers.
type hub struct {
	ctx context.Context //nolint:containedctx // the lifetime of the informers, not of a call

	mu sync.Mutex
	// informers are those that observers and reconcilers use. One that injection runs has its own key.
	informers map[sourceKey]*shared
	// stations are those of the observers that the process has, by their definitions.
	stations map[any]station
	// synced are the observers whose initial list the start waits for.
	synced []waiting
	// started reports whether injection may have started its informers, and connected whether all observers are in synced.
	started, connected atomic.Bool
	// webhooks are the controllers whose reconciler Complete wraps.
	webhooks map[*controller.Impl]*Triggers
}

// waiting is an observer, its informer, and whether it has received the initial list.
type waiting struct {
	name     string
	informer *shared
	isSynced func() bool
}

// station receives the notifications of an informer for an observer: an inline or a queue.
type station interface {
	cache.ResourceEventHandler

	name() string
	// stop has no call begin any more.
	stop()
	// drained reports whether no call is running and none is to begin. Then it stops.
	drained() bool
	// undelivered returns the number of objects with events that have not been delivered.
	undelivered() int
}

type hubKey struct{}

func hubFrom(ctx context.Context) (*hub, error) {
	if h, ok := ctx.Value(hubKey{}).(*hub); ok {
		return h, nil
	}
	return nil, errors.New("the context is not that of a process with injection, or of one of its controllers")
}

// attach makes the hub of a process. Injection calls it when the clients are in the context.
func attach(ctx context.Context) (context.Context, []controller.Informer) {
	h := &hub{informers: map[sourceKey]*shared{}, stations: map[any]station{}, webhooks: map[*controller.Impl]*Triggers{}}
	h.ctx = context.WithValue(ctx, hubKey{}, h)
	registry.Lock()
	defer registry.Unlock()
	registry.hubs = append(registry.hubs, h)
	return h.ctx, []controller.Informer{h}
}

// Run implements controller.Informer. It starts the observers once all constructors have run.
func (h *hub) Run(stop <-chan struct{}) {
	h.started.Store(true)
	for _, d := range registered() {
		if err := d.start(h); err != nil {
			logging.FromContext(h.ctx).Fatalw("An observer cannot be started", "observer", d.name(), "error", err)
		}
	}
	h.connected.Store(true)
	tick := time.NewTicker(waitingEvery)
	defer tick.Stop()
	for !h.HasSynced() {
		select {
		case <-stop:
			return
		case <-tick.C:
			h.logWaiting()
		}
	}
}

// await has the start wait until an observer has received the initial list.
func (h *hub) await(name string, informer *shared, isSynced func() bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = append(h.synced, waiting{name, informer, isSynced})
}

// HasSynced implements controller.Informer. Controllers start once every observer has received the initial list, or has it in its queue.
func (h *hub) HasSynced() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.connected.Load() && !slices.ContainsFunc(h.synced, func(w waiting) bool { return !w.isSynced() })
}

func (h *hub) logWaiting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.synced {
		if !w.isSynced() {
			logging.FromContext(h.ctx).Warnw("An observer waits for the first list of its source", "observer", w.name, "error", w.informer.check())
		}
	}
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

// drainPoll is the interval at which Shutdown and Stop check whether calls are running.
const drainPoll = 10 * time.Millisecond

// Shutdown waits, after the context of the process has ended, until every observer has received what is pending, at most until ctx ends. From then
// on it calls no observer. It returns an error for each observer with events that were not delivered. A process that leads keeps its lease until
// Shutdown returns, as package process does. If it loses the lease earlier, pending notifications are not delivered.
func Shutdown(ctx context.Context) error {
	registry.Lock()
	hubs := registry.hubs
	registry.hubs = nil
	registry.Unlock()
	var failures []error
	for _, h := range hubs {
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

func init() {
	injection.Default.RegisterFilteredInformers(attach)
	injection.Fake.RegisterFilteredInformers(attach)
}
