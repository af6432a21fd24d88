/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/webhook"
)

// apart is the time between two reconciliations that may write webhook configurations. The API server has read the first one by then.
const apart = 100 * time.Millisecond

// hardened is the controller.Reconciler of a controller.Impl in place of inner.
type hardened struct {
	process *process
	inner   controller.Reconciler
	tracker *tracking // nil if the controller has upstream's
	backoff *backOff
	writes  *writes
	// running are the reconciliations that are under way: of types.NamespacedName to context.CancelCauseFunc.
	running sync.Map
}

// Reconcile implements controller.Reconciler.
func (h *hardened) Reconcile(ctx context.Context, key string) error {
	if !h.process.work.begin() {
		// Another process reconciles the object once the lease is released.
		return controller.NewSkipKey(key)
	}
	defer h.process.work.running.Done()
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return h.call(ctx, key)
	}
	object := types.NamespacedName{Namespace: namespace, Name: name}
	off := h.process.off
	if wait := h.backoff.wait(object); wait > 0 && !off[backoff] {
		return controller.NewRequeueAfter(wait)
	}
	if !off[postponing] {
		if h.writes.behind(object) {
			// The event that the cache lacks enqueues the object, too.
			return controller.NewRequeueAfter(time.Second)
		}
		ctx = h.writes.recording(ctx, object)
	}
	if h.tracker != nil {
		// A panic is a failure.
		defer func() { h.tracker.end(object, err == nil) }()
	}
	// The context does not end with the reconciliation: code that keeps it, such as duck.CachedInformerFactory, would fail from then on.
	ctx, cancel := context.WithCancelCause(ctx)
	h.running.Store(object, cancel)
	defer h.running.Delete(object)
	_, serves := h.inner.(interface{ Path() string })
	if serves && !off[registration] {
		_ = h.process.registrations.Wait(ctx) // if the context ends, so do the requests
	}
	started := time.Now()
	err = h.call(ctx, key)
	if off[backoff] {
		return err
	}
	failed, event := h.backoff.result(object, err)
	// The configuration of a webhook does not come and go, as other objects do.
	if failed || serves && apierrors.IsNotFound(err) {
		logging.FromContext(ctx).Errorw("Reconcile error", zap.Duration("duration", time.Since(started)), zap.Error(err))
	}
	return event
}

// call calls the inner reconciler.
func (h *hardened) call(ctx context.Context, key string) (err error) {
	defer h.process.contain(func(cause any) {
		err = fmt.Errorf("panic while reconciling %s: %v", key, cause)
		logging.FromContext(ctx).Errorw("A reconciler panicked", zap.Error(err), zap.Stack("stack"))
	})
	return h.inner.Reconcile(ctx, key)
}

// wrap returns h with exactly those optional interfaces that the inner reconciler has: sharedmain and package webhook decide by them.
func (h *hardened) wrap() controller.Reconciler {
	aware, isAware := h.inner.(reconciler.LeaderAware)
	admits, isAdmission := h.inner.(webhook.AdmissionController)
	stateless, isStateless := h.inner.(webhook.StatelessAdmissionController)
	converts, isConversion := h.inner.(webhook.ConversionController)
	l, a, c := leaderAware{h, aware}, admission{admits, h.process}, conversion{converts, h.process}
	switch {
	case isAware && isAdmission && isStateless:
		return struct {
			leaderAware
			admission
			webhook.StatelessAdmissionController
		}{l, a, stateless}
	case isAware && isAdmission:
		return struct {
			leaderAware
			admission
		}{l, a}
	case isAware && isConversion:
		return struct {
			leaderAware
			conversion
		}{l, c}
	case isAware:
		return l
	case isAdmission || isConversion:
		return h.inner // sharedmain starts it without leader election only
	default:
		return h
	}
}
