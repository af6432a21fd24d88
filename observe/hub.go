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
	"sync/atomic"
	"time"

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
	// informers are those that observers use. One that injection runs has its own key.
	informers map[sourceKey]*shared
	// constructed has the registered observers that have a controller, by their definitions.
	constructed map[any]bool
	// synced are the observers whose initial list the start waits for.
	synced []waiting
	// started reports whether injection may have started its informers, and connected whether all observers are in synced.
	started, connected atomic.Bool
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

	// stop has no call begin any more.
	stop()
	// running returns the number of calls that are running.
	running() int
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
	h := &hub{informers: map[sourceKey]*shared{}, constructed: map[any]bool{}}
	h.ctx = context.WithValue(ctx, hubKey{}, h)
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

func init() {
	injection.Default.RegisterFilteredInformers(attach)
	injection.Fake.RegisterFilteredInformers(attach)
}
