/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
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

// OnWrite implements zapcore.CheckWriteHook. It panics at the level Fatal once the process runs, so that this is contained as any other panic.
func (p *process) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if p.running.Load() && !p.off[panics] {
		panic(entry.Message)
	}
	zapcore.WriteThenFatal.OnWrite(entry, fields)
}

// watcher returns a watcher of ConfigMaps whose observers may panic. That of sharedmain is a configmap.DefaultingWatcher.
func (p *process) watcher(inner configmap.Watcher) configmap.Watcher {
	if defaulting, ok := inner.(configmap.DefaultingWatcher); ok {
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
