/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	mu        sync.Mutex
	informers map[sourceKey]*shared
	// stations are those of the observers that the process has, by what declares them: a definition or a subscription.
	stations map[any]station
	// synced are the observers whose initial list the start waits for.
	synced []waiting
	// started is whether injection may have started its informers, and connected whether all observers are in synced.
	started, connected bool
	// injected are the informers that injection runs, with what sources have added to them.
	injected map[cache.SharedIndexInformer]*setup
	// webhooks are the controllers whose reconciler Complete wraps.
	webhooks map[*controller.Impl]*Triggers
}

// informer returns the informer of a source that has an observer, or nil.
func (h *hub) informer(key sourceKey) *shared {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.informers[key.in(h.ctx)]
}

// waiting is an observer, and whether it has received the initial list.
type waiting struct {
	name     string
	isSynced func() bool
}

// station is where the notifications of an informer arrive for an observer: an inline or a queue.
type station interface {
	cache.ResourceEventHandler

	id() string
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

// shared is an informer that several observers use. It implements controller.Informer.
type shared struct {
	cache.SharedIndexInformer
	setup

	ctx    context.Context //nolint:containedctx // the lifetime of the informer
	cancel context.CancelFunc
	users  []string
	health health
}

// Run implements controller.Informer. The informer also ends with its last observer.
func (s *shared) Run(stop <-chan struct{}) {
	defer s.cancel()
	go func() {
		select {
		case <-stop:
			s.cancel()
		case <-s.ctx.Done():
		}
	}()
	s.RunWithContext(s.ctx)
}

// acquire returns the informer of a source for an observer, and whether it is new and has to be run.
func acquire[T Object](h *hub, source Source[T], user string) (s *shared, isNew bool, err error) {
	if source.err != nil {
		return nil, false, source.err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key, transform := source.key.in(h.ctx), source.transform
	if transform == nil {
		transform = DropManagedFields
	}
	s, ok := h.informers[key]
	if !ok {
		if s, err = newShared(h.ctx, source.build, key); err != nil {
			return nil, false, fmt.Errorf("making an informer: %w", err)
		}
	}
	if err := errors.Join(s.setTransform(h.ctx, source.source, transform, s), s.addIndexes(source.source, s)); err != nil {
		return nil, false, err
	}
	if !ok {
		s.ctx, s.cancel = context.WithCancel(h.ctx)
		h.informers[key] = s
	}
	s.users = append(s.users, user)
	return s, !ok, nil
}

func newShared(ctx context.Context, build builder, key sourceKey) (*shared, error) {
	s := &shared{}
	informer, err := build(ctx, key, func(options *metav1.ListOptions) {
		key.tweak(options)
		s.requested(options)
	})
	if err != nil {
		return nil, err
	}
	s.SharedIndexInformer = informer
	if err := informer.SetWatchErrorHandlerWithContext(s.failed); err != nil {
		return nil, fmt.Errorf("setting up an informer: %w", err)
	}
	return s, nil
}

// informerOf returns the informer of a source for an observer that is added after the start, and what ends its use.
func informerOf[T Object](ctx context.Context, h *hub, source Source[T], user string) (notifier, func(), error) {
	if source.build == nil {
		informer, err := source.setUp(ctx, h)
		return informer, func() {}, err
	}
	s, isNew, err := acquire(h, source, user)
	if err != nil {
		return nil, nil, err
	}
	if isNew {
		go s.Run(h.ctx.Done())
	}
	return s, func() { h.release(s, user) }, nil
}

// release ends an informer that has no observer any more.
func (h *hub) release(s *shared, user string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(s.users, user); i >= 0 {
		s.users = slices.Delete(s.users, i, i+1)
	}
	if len(s.users) > 0 {
		return
	}
	s.cancel()
	for key, other := range h.informers {
		if other == s {
			delete(h.informers, key)
		}
	}
}

// attach makes the hub of a process and the informers of its registered observers. Injection calls it when the clients are in the context.
func attach(ctx context.Context) (context.Context, []controller.Informer) {
	h := &hub{
		informers: map[sourceKey]*shared{}, stations: map[any]station{}, injected: map[cache.SharedIndexInformer]*setup{},
		webhooks: map[*controller.Impl]*Triggers{},
	}
	ctx = context.WithValue(ctx, hubKey{}, h)
	h.ctx = ctx
	hubs.Lock()
	hubs.list = append(hubs.list, h)
	hubs.Unlock()
	var informers []controller.Informer
	for _, d := range registered() {
		s, isNew, err := d.acquire(h)
		if err != nil {
			logging.FromContext(ctx).Fatalw("An observer cannot be started", "observer", d.name(), "error", err)
		}
		if isNew {
			informers = append(informers, s)
		}
	}
	return ctx, append(informers, h)
}

// Run implements controller.Informer. It connects the observers with their sources once all constructors have run.
func (h *hub) Run(stop <-chan struct{}) {
	h.mu.Lock()
	h.started = true
	h.mu.Unlock()
	var synced []waiting
	for _, d := range registered() {
		isSynced, err := d.connect(h)
		if err != nil {
			logging.FromContext(h.ctx).Fatalw("An observer cannot be started", "observer", d.name(), "error", err)
		}
		synced = append(synced, waiting{d.name(), isSynced})
	}
	h.mu.Lock()
	h.synced, h.connected = append(h.synced, synced...), true
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
