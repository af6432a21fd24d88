/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Object is a pointer to the Go type of a Kubernetes object.
type Object interface {
	comparable
	metav1.Object
	runtime.Object
}

// Type is the type of an Event, as in the metrics.
type Type string

// The types of events.
const (
	Added   Type = "Added"
	Updated Type = "Updated"
	Deleted Type = "Deleted"
)

var allTypes = []Type{Added, Updated, Deleted}

// Event is a change of one object. The objects are shared with a cache, so they must not be changed.
type Event[T Object] struct {
	Type Type
	// Name is the namespace and name of the object.
	Name cache.ObjectName
	// Object is the current state, or for Deleted the last known one.
	Object T
	// Old is the state that this observer received last or, if it is Inline, the one before. It is the zero value for Added.
	Old T
	// InInitialList reports that the object existed before its source was read or, for LeaderOnly, before this replica led it.
	InInitialList bool
	// Resync reports an Updated without a change, see Options.Resync.
	Resync bool
	// FinalStateUnknown reports that the deletion was missed and found by a later list. Object may be outdated.
	FinalStateUnknown bool
	// Folded is the number of notifications of the watch that this event represents, at least 1.
	Folded int
}

// Handler is called with each event. Its errors have the meaning that they have in a reconciler of knative.dev/pkg:
// controller.NewPermanentError drops the event, controller.NewRequeueAfter repeats it later, controller.NewSkipKey counts as delivered, and
// other errors repeat it with exponential back-off. By then the event includes what has changed in the meantime.
type Handler[T Object] func(ctx context.Context, event Event[T]) error
