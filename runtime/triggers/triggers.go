/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Triggers enqueues the objects of one controller. It may be used by several goroutines, after Wire. Use New.
type Triggers struct {
	impl    *controller.Impl
	kind    *telemetry.Kind
	memory  *memory
	backlog *backlog
}

// New returns the Triggers of the controller that reconciles a kind.
func New(kind string) *Triggers {
	return &Triggers{kind: telemetry.NewKind(kind), memory: newMemory(maxKeys, maxTriggers)}
}

// EnqueueConfigured enqueues, once the queue is short, each object of an informer that the filter accepts, because a ConfigMap has
// changed.
func (t *Triggers) EnqueueConfigured(configMap string, filter func(any) bool, informer cache.SharedInformer) {
	t.enqueueAll(trigger{cause: Configured, source: configMap}, filter, informer)
}

// EnqueueServed enqueues, once the queue is short, each object of an informer that the filter accepts, because the kinds that they
// refer to can be read now, or no longer.
func (t *Triggers) EnqueueServed(source string, filter func(any) bool, informer cache.SharedInformer) {
	t.enqueueAll(trigger{cause: Served, source: source}, filter, informer)
}

func (t *Triggers) enqueueAll(why trigger, filter func(any) bool, informer cache.SharedInformer) {
	for _, obj := range informer.GetStore().List() {
		if key, ok := keyOf(obj); ok && filter(obj) {
			t.enqueueLater(key, why)
		}
	}
}

// enqueue notes the trigger before the key is in the queue, where a worker may take it at once.
func (t *Triggers) enqueue(key types.NamespacedName, why trigger) {
	t.memory.note(key, why)
	t.count(why)
	t.impl.EnqueueKey(key)
}

func (t *Triggers) enqueueLater(key types.NamespacedName, why trigger) {
	t.memory.note(key, why)
	t.count(why)
	t.backlog.Add(key)
}

func (t *Triggers) count(why trigger) { t.kind.Triggered(string(why.cause), why.source) }
