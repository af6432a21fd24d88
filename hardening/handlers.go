/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// informer is an informer whose handlers may panic, and learn of each deletion.
type informer struct {
	cache.SharedIndexInformer

	process *process
	// kind is the name of the Go type of its objects.
	kind string
	// resource is the resource of a duck informer. It is empty for others.
	resource schema.GroupVersionResource
	// selects is set once it turns out that the informer does not have all objects that this process creates.
	selects atomic.Bool
}

func (p *process) wrap(kind string, inner cache.SharedIndexInformer) *informer {
	return &informer{SharedIndexInformer: inner, process: p, kind: kind}
}

// AddEventHandler implements cache.SharedIndexInformer.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(handler{h, i}) //nolint:wrapcheck // it is the result
}

// AddEventHandlerWithResyncPeriod implements cache.SharedIndexInformer.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(handler{h, i}, period) //nolint:wrapcheck // it is the result
}

// AddEventHandlerWithOptions implements cache.SharedIndexInformer.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(handler{h, i}, options) //nolint:wrapcheck // it is the result
}

// handler is an event handler that may panic. Its inner one receives the last known state of an object whose deletion the watch has
// missed: the filters of package controller drop a cache.DeletedFinalStateUnknown.
type handler struct {
	inner    cache.ResourceEventHandler
	informer *informer
}

// OnAdd implements cache.ResourceEventHandler.
func (h handler) OnAdd(object any, isInInitialList bool) {
	defer h.informer.process.contain(h.lost)
	h.inner.OnAdd(object, isInInitialList)
}

// OnUpdate implements cache.ResourceEventHandler.
func (h handler) OnUpdate(before, after any) {
	defer h.informer.process.contain(h.lost)
	h.inner.OnUpdate(before, after)
}

// OnDelete implements cache.ResourceEventHandler.
func (h handler) OnDelete(object any) {
	defer h.informer.process.contain(h.lost)
	if missed, ok := object.(cache.DeletedFinalStateUnknown); ok && missed.Obj != nil && !h.informer.process.off[tombstones] {
		object = missed.Obj
	}
	h.inner.OnDelete(object)
}

// lost reports a panic. The event is not delivered again: for handlers that enqueue, the next one of the object repairs that.
func (h handler) lost(cause any) {
	h.informer.process.logger().Errorw("An event handler panicked", "kind", h.informer.kind, "panic", cause, zap.Stack("stack"))
}
