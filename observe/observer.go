/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/confidential"
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
// other errors repeat it with exponential back-off. By then the event includes the changes since then.
type Handler[T Object] func(ctx context.Context, event Event[T]) error

// Scope determines which replicas of a process call an observer.
type Scope uint8

// The scopes.
const (
	// DefaultScope is EveryReplica for an observer that is Inline, and otherwise LeaderOnly.
	DefaultScope Scope = iota
	// LeaderOnly is for observers with effects outside of the process. When a replica becomes the leader of an object, its observer
	// receives it as Added in the initial list. It is not for an observer that is Inline.
	LeaderOnly
	// EveryReplica is for observers that keep something in memory, such as caches and metrics.
	EveryReplica
)

// Options of an observer. The zero value is a queued observer of every change.
type Options[T Object] struct {
	// Types are the types of events that the observer receives, by default all. Without Added, the first state of an object counts as received.
	Types []Type
	// Where keeps objects from the observer. An object that begins to match is Added, one that ceases to match is Deleted.
	Where func(T) bool
	// Distinct returns the parts of an object that the observer reads, as a comparable value. The observer receives an Updated only if it differs, or if it
	// cannot be compared.
	Distinct func(T) any
	// Inline has the informer call the observer, and not a worker. While a call runs, the informer keeps every further notification for the
	// observer, so the call must not send requests. It is not repeated after an error.
	Inline bool
	// Workers is the number of calls at a time, each for another object. By default it is 1.
	Workers int
	// Scope determines which replicas call the observer.
	Scope Scope
	// Resync is the interval at which the observer receives each object even if it has not changed. By default it never does. The shortest time is a second.
	// For an Injected source, the observer has to be registered and queued.
	Resync time.Duration
	// Timeout bounds each call by its context. By default nothing does.
	Timeout time.Duration
	// RateLimiter delays an event after an error. By default it is that of client-go for controllers. Observers must not share one.
	RateLimiter workqueue.TypedRateLimiter[types.NamespacedName]
}

// check returns the first mistake in the options.
func (o Options[T]) check() error {
	switch {
	case o.Inline && o.Scope == LeaderOnly:
		return errors.New("Options.Scope: LeaderOnly is for queued observers, and this one is Inline")
	case o.Inline && o.Workers != 0:
		return errors.New("Options.Workers: the informer calls an observer that is Inline")
	case o.Inline && o.RateLimiter != nil:
		return errors.New("Options.RateLimiter: an observer that is Inline is not called again")
	case o.Workers < 0:
		return fmt.Errorf("Options.Workers: must be at least 1, or 0 for 1, not %d", o.Workers)
	case o.Scope > EveryReplica:
		return fmt.Errorf("Options.Scope: must be LeaderOnly or EveryReplica, not %d", o.Scope)
	case o.Resync != 0 && o.Resync < time.Second:
		return fmt.Errorf("Options.Resync: must be at least 1s, not %v", o.Resync)
	case slices.ContainsFunc(o.Types, func(t Type) bool { return !slices.Contains(allTypes, t) }):
		return fmt.Errorf("Options.Types: must be of Added, Updated and Deleted, not %v", o.Types)
	default:
		return nil
	}
}

// observer calls a handler.
type observer[T Object] struct {
	*definitionOf[T]

	metrics metrics
	// ctx is that of the process, with its logger.
	ctx context.Context //nolint:containedctx // the lifetime of the observer, not of a call
}

// try calls a function of the observer with an event. A panic is logged, and is the error. Neither has values of Secrets.
func (o *observer[T]) try(what string, event *Event[T], f func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = o.withoutValues(event, fmt.Errorf("%w: %v", errPanic, reason))
			logging.FromContext(o.ctx).Errorw("An observer panicked", "observer", o.id, "in", what, "key", event.Name.String(), "reason", err,
				"stack", string(debug.Stack()))
		}
	}()
	if err = f(); err != nil {
		err = o.withoutValues(event, err)
	}
	return err
}

// secretMetadata is the kind of a source of the metadata of Secrets, whose objects do not contain it.
var secretMetadata any = corev1.SchemeGroupVersion.WithResource("secrets")

func (o *observer[T]) withoutValues(event *Event[T], err error) error {
	values := confidential.Values{}
	if isOld, isNew := values.Add(event.Old), values.Add(event.Object); isOld || isNew || o.source.key.kind == secretMetadata {
		return values.Error(err)
	}
	return err
}

// matches reports whether the observer may receive an object. One that Where fails for matches.
func (o *observer[T]) matches(object T) bool {
	matches := true
	if o.options.Where != nil {
		_ = o.try("Where", &Event[T]{Name: cache.MetaObjectToName(object), Object: object}, func() error {
			matches = o.options.Where(object)
			return nil
		})
	}
	return matches
}

// wants reports whether the observer receives an event. An Updated for which Distinct fails, or whose values cannot be compared, it receives.
func (o *observer[T]) wants(event *Event[T]) bool {
	if len(o.options.Types) > 0 && !slices.Contains(o.options.Types, event.Type) {
		return false
	}
	wants := true
	if distinct := o.options.Distinct; distinct != nil && event.Type == Updated && !event.Resync {
		_ = o.try("Distinct", event, func() error {
			wants = distinct(event.Old) != distinct(event.Object)
			return nil
		})
	}
	return wants
}

// call calls the handler. A panic is an error.
func (o *observer[T]) call(ctx context.Context, event Event[T]) error {
	if o.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.options.Timeout)
		defer cancel()
	}
	start := time.Now()
	err := o.try("the handler", &event, func() error { return o.handler(ctx, event) })
	outcome := resultOf(err)
	o.metrics.called(event.Type, outcome, time.Since(start))
	if err != nil && outcome != resultSkip && (outcome != resultRequeue || o.options.Inline) {
		logging.FromContext(o.ctx).Errorw("An observer failed", "observer", o.id, "type", string(event.Type), "key", event.Name.String(),
			"repeated", !o.options.Inline && !isFinal(outcome), "error", err)
	}
	return err
}

// result classifies the end of a call as the queue of a reconciler does. It is a label of metrics.
type result string

const (
	resultSuccess        result = "success"
	resultSkip           result = "skip"
	resultRequeue        result = "requeue"
	resultConflict       result = "conflict"
	resultError          result = "error"
	resultPermanentError result = "permanent_error"
	resultPanic          result = "panic"
)

// errPanic is the error of a function that has panicked.
var errPanic = errors.New("the observer panicked")

func resultOf(err error) result {
	if err == nil {
		// The other checks allocate.
		return resultSuccess
	}
	requeue, _ := controller.IsRequeueKey(err)
	switch {
	case errors.Is(err, errPanic):
		return resultPanic
	case controller.IsSkipKey(err):
		return resultSkip
	case requeue:
		return resultRequeue
	case apierrors.IsConflict(err):
		return resultConflict
	case controller.IsPermanentError(err):
		return resultPermanentError
	default:
		return resultError
	}
}

// isFinal reports whether an event is not delivered again.
func isFinal(r result) bool {
	return r == resultSuccess || r == resultSkip || r == resultPermanentError
}

// mismatched counts a notification with an object of another type.
func (o *observer[T]) mismatched(notified any) {
	logging.FromContext(o.ctx).Errorw("A source delivers objects of another type", "observer", o.id,
		"want", reflect.TypeFor[T]().String(), "got", fmt.Sprintf("%T", notified))
	mismatches.Add(context.Background(), 1, o.metrics.own...)
}
