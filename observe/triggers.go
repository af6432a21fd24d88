/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Triggers enqueues the objects of a reconciler, and counts and remembers why. It may be used by several goroutines, after Wire. Use NewTriggers.
type Triggers struct {
	impl    *controller.Impl
	kind    *telemetry.Kind
	memory  *memory
	backlog *backlog
	guards  Guards
	// objects is the cache that the generated reconciler reads its objects from, or nil.
	objects cache.KeyGetter
}

// NewTriggers returns the Triggers of the controller that reconciles a kind, which Wire connects with its queue.
func NewTriggers(kind string) *Triggers {
	return &Triggers{kind: telemetry.NewKind(kind), memory: newMemory(maxKeys, maxTriggers)}
}

// Enqueue enqueues objects because of an event that is not one of a source: Configured or Served. They wait until the queue is short. source is a
// label of a metric, so it must not be a name from the cluster.
func (t *Triggers) Enqueue(cause Cause, source string, keys []types.NamespacedName) {
	t.enqueue(t.backlog.Add, trigger{cause: cause, source: source}, keys...)
}

// Cause is why an object is enqueued. It is a label of a metric; docs/observability.md describes the values.
type Cause string

// The causes: events of a source, events of the process, and those of the queue itself.
const (
	causeListed   Cause = "listed"
	causeAdded    Cause = "added"
	causeUpdated  Cause = "updated"
	causeDeleted  Cause = "deleted"
	causeResynced Cause = "resynced"

	// Configured is a ConfigMap that has changed.
	Configured Cause = "configured"
	// Served is a kind that can be read now, or no longer.
	Served        Cause = "served"
	causePromoted Cause = "promoted"

	causeRequeued Cause = "requeued"
	causeRetried  Cause = "retried"
	causeOther    Cause = "other"
)

const (
	// maxKeys bounds for how many objects triggers are remembered, a few hundred bytes each.
	maxKeys = 1 << 16
	// maxTriggers is how many different triggers of one reconciliation its span names.
	maxTriggers = 8
)

// trigger is why an object was enqueued: the cause, the kind or ConfigMap it is about, and the object. Only the cause is always set.
type trigger struct {
	cause          Cause
	source, object string
}

// Guards postpone reconciliations. The zero value postpones none.
type Guards struct {
	// Expectations postpones an object until the cache of the source of For has our own last writes of it.
	Expectations *expectations.Expectations
	// Failures delays an object whose requests fail.
	Failures *failures.Failures
}
