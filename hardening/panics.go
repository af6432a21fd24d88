/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"fmt"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
)

// contain is deferred. It recovers a panic and passes its cause on, unless that is switched off.
func (p *process) contain(report func(cause any)) {
	if p.off[panics] {
		return
	}
	if cause := recover(); cause != nil {
		report(cause)
	}
}

// recovered is deferred as contain is, and cannot be switched off.
func recovered(report func(cause any)) {
	if cause := recover(); cause != nil {
		report(cause)
	}
}

// admission is an AdmissionController whose panics reject the request with a message, instead of ending the connection. See also [withFields].
type admission struct {
	webhook.AdmissionController

	process *process
}

// Admit implements webhook.AdmissionController.
func (a admission) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) (response *admissionv1.AdmissionResponse) {
	defer a.process.contain(func(cause any) {
		logging.FromContext(ctx).Errorw("A webhook panicked", zap.Any("panic", cause), zap.Stack("stack"))
		status := apierrors.NewInternalError(fmt.Errorf("panic in the webhook %s", a.Path())).Status()
		response = &admissionv1.AdmissionResponse{Result: &status}
	})
	defer a.process.connections.hold(ctx)
	if a.process.off[fields] {
		return a.AdmissionController.Admit(ctx, request)
	}
	return withFields(a.AdmissionController, request, a.AdmissionController.Admit(ctx, withReadable(a.AdmissionController, request)))
}

// conversion is a ConversionController whose panics fail the request with a message.
type conversion struct {
	webhook.ConversionController

	process *process
}

// Convert implements webhook.ConversionController.
func (c conversion) Convert(ctx context.Context, request *apixv1.ConversionRequest) (response *apixv1.ConversionResponse) {
	defer c.process.contain(func(cause any) {
		logging.FromContext(ctx).Errorw("A conversion panicked", zap.Any("panic", cause), zap.Stack("stack"))
		response = &apixv1.ConversionResponse{UID: request.UID, Result: metav1.Status{
			Status: metav1.StatusFailure, Message: "panic in the webhook " + c.Path(),
		}}
	})
	defer c.process.connections.hold(ctx)
	return c.ConversionController.Convert(ctx, request)
}

// withFatalHook makes the logger of a context panic at the level Fatal once the process runs, so that it is contained as any other panic.
func (p *process) withFatalHook(ctx context.Context) context.Context {
	if p.off[panics] {
		return ctx
	}
	return logging.WithLogger(ctx, logging.FromContext(ctx).WithOptions(zap.WithFatalHook(fatalHook{p})))
}

type fatalHook struct{ process *process }

// OnWrite implements zapcore.CheckWriteHook.
func (h fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if h.process.running.Load() {
		panic(entry.Message)
	}
	zapcore.WriteThenFatal.OnWrite(entry, fields)
}

// watcher returns a watcher of ConfigMaps whose observers may panic. That of sharedmain is a configmap.DefaultingWatcher.
func (p *process) watcher(inner configmap.Watcher) configmap.Watcher {
	if defaulting, ok := inner.(configmap.DefaultingWatcher); ok && !p.off[panics] {
		return watcher{defaulting, p}
	}
	return inner
}

type watcher struct {
	configmap.DefaultingWatcher

	process *process
}

// Watch implements configmap.Watcher.
func (w watcher) Watch(name string, observers ...configmap.Observer) {
	w.DefaultingWatcher.Watch(name, w.contained(observers)...)
}

// WatchWithDefault implements configmap.DefaultingWatcher.
func (w watcher) WatchWithDefault(cm corev1.ConfigMap, observers ...configmap.Observer) {
	w.DefaultingWatcher.WatchWithDefault(cm, w.contained(observers)...)
}

func (w watcher) contained(observers []configmap.Observer) []configmap.Observer {
	contained := make([]configmap.Observer, len(observers))
	for i, observe := range observers {
		contained[i] = func(cm *corev1.ConfigMap) {
			if w.process.running.Load() {
				defer w.process.contain(func(cause any) {
					w.process.logger().Errorw("An observer of a ConfigMap panicked, so that its last state remains in force",
						"configmap", cm.Namespace+"/"+cm.Name, "panic", cause, zap.Stack("stack"))
				})
			}
			observe(cm)
		}
	}
	return contained
}
