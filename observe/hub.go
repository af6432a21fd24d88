/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
)

// waitingEvery is how often a start that takes long is logged.
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
	// started is whether injection may have started its informers, and connected whether all observers are in synced.
	started, connected bool
	// webhooks are the controllers whose reconciler Complete wraps.
	webhooks map[*controller.Impl]*Triggers
}

// waiting is an observer, and whether it has received the initial list.
type waiting struct {
	name     string
	isSynced func() bool
}

// station is where the notifications of an informer arrive for an observer: an inline or a queue.
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

// hubs are those of the process; a test may have several.
var hubs struct {
	sync.Mutex

	list []*hub
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
	hubs.Lock()
	defer hubs.Unlock()
	hubs.list = append(hubs.list, h)
	return h.ctx, []controller.Informer{h}
}

// Run implements controller.Informer. It starts the observers once all constructors have run.
func (h *hub) Run(stop <-chan struct{}) {
	h.mu.Lock()
	h.started = true
	h.mu.Unlock()
	for _, d := range registered() {
		if err := d.start(h); err != nil {
			logging.FromContext(h.ctx).Fatalw("An observer cannot be started", "observer", d.name(), "error", err)
		}
	}
	h.mu.Lock()
	h.connected = true
	h.mu.Unlock()
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
func (h *hub) await(name string, isSynced func() bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = append(h.synced, waiting{name, isSynced})
}

// HasSynced implements controller.Informer. Controllers start once every observer has received the initial list, or has it in its queue.
func (h *hub) HasSynced() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.connected && !slices.ContainsFunc(h.synced, func(w waiting) bool { return !w.isSynced() })
}

func (h *hub) logWaiting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.synced {
		if w.isSynced() {
			continue
		}
		var last error
		for _, s := range h.informers {
			if slices.Contains(s.users, w.name) {
				last = s.check()
			}
		}
		logging.FromContext(h.ctx).Warnw("An observer waits for the first list of its source", "observer", w.name, "error", last)
	}
}

func init() {
	injection.Default.RegisterFilteredInformers(attach)
	injection.Fake.RegisterFilteredInformers(attach)
}
