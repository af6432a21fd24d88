/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// defaultingWatcher is a configmap.DefaultingWatcher, as that of sharedmain is. OnChange is an event.
type defaultingWatcher struct{ configmap.ManualWatcher }

func (w *defaultingWatcher) WatchWithDefault(cm corev1.ConfigMap, observers ...configmap.Observer) {
	w.Watch(cm.Name, observers...)
}

func TestObservers_Panic_IsContainedWhileTheProcessRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		off       []concern
		running   bool
		contained int
	}{
		"Running":  {running: true, contained: 2},
		"Starting": {}, // an invalid ConfigMap ends the start
		"Off":      {off: []concern{panics}, running: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, logs := newProcess(t, tc.off...)
			p.running.Store(tc.running)
			events := &defaultingWatcher{configmap.ManualWatcher{Namespace: one.Namespace}}
			p.constructor(func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
				observe := func(*corev1.ConfigMap) { panic("boom") }
				watcher.Watch(one.Name, observe)
				watcher.(configmap.DefaultingWatcher).WatchWithDefault(*at("1"), observe)
				return newImpl(ctx, reconcileFunc(func(context.Context, string) error { return nil }))
			})(logging.WithLogger(t.Context(), p.logger()), events)
			defer func() {
				panicked := recover() != nil
				if got := logs.FilterMessageSnippet("An observer of a ConfigMap panicked").Len(); got != tc.contained || panicked == (got > 0) {
					t.Errorf("%d panics were contained, want %d; another one was not: %t", got, tc.contained, panicked)
				}
			}()
			events.OnChange(at("2"))
		})
	}
}

func TestFatal_InAReconciliation_IsAnErrorOfThatObject(t *testing.T) {
	p, _ := newProcess(t)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx)
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { logger.Fatal("boom"); return nil }))
	})
	if err := impl.Reconciler.Reconcile(t.Context(), "default/a"); err == nil || !strings.Contains(err.Error(), "panic while reconciling default/a: boom") {
		t.Errorf("error: %v", err)
	}
}
