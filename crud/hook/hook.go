/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"go.uber.org/zap"
	"golang.org/x/time/rate"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// Hook is a function or an executable with its bindings. Use Func or Load.
type Hook struct {
	name     string
	bindings Bindings
	// call runs the hook once and returns its operations. With an error, only those for hooks that failed are executed.
	call func(context.Context, *Run) (operations.File, error)

	limit *rate.Limiter
	// own are versions of objects that operations of the hook have written, and its deletions.
	own *lru.Cache
}

// Func returns a hook in Go. The operations that f adds to the run are executed once f has returned without an error.
func Func(name string, bindings Bindings, f func(context.Context, *Run) error) *Hook {
	return &Hook{name: name, bindings: bindings, call: func(ctx context.Context, run *Run) (operations.File, error) {
		err := f(ctx, run)
		return operations.File{Plan: run.Plan}, err
	}}
}

// recovered is deferred by each part of a run, and reports its panic as an error of the hook.
func (r *Run) recovered(client *crud.Client, failed func(error)) {
	reason := recover()
	if reason == nil {
		return
	}
	client.AddConfidential(&r.values, r.Plan.Operations...)
	r.Logger.Errorw("The hook panicked", "reason", r.values.Mask(fmt.Sprint(reason)), "stack", string(debug.Stack()))
	failed(errors.New("it panicked"))
}

// Run is one run of a hook.
type Run struct {
	// Hook and Queue are the names of the hook and of its queue.
	Hook, Queue string
	// Task is the same when a run is repeated after a failure or a conflict.
	Task string
	// Contexts are the events for which the hook runs, in order. The objects are shared with a cache, so they must not be changed.
	Contexts []Context
	// Plan has the operations that are executed after the run.
	Plan crud.Plan
	// Response answers the review, if the run is one of a Validating or Mutating binding. Such a run has no queue and no operations.
	Response *Response
	// Logger has the names of the hook, its binding and its queue.
	Logger *zap.SugaredLogger

	// values are those of the confidential objects that the hook received or wants to write. They are masked in everything that it logs.
	values confidential.Values
	// causes are the states that the hook has received if the run succeeds, by binding and object: none if only a schedule caused the run. The functions
	// in received note that it has.
	causes   map[string]string
	received []func()
	// metrics are those that an executable wrote, and printed is its output.
	metrics []metricLine
	printed output
}

// reveal logs what the hook printed, and completes its metrics, without the values that it received or that its operations write.
func (r *Run) reveal(client *crud.Client, file operations.File) {
	client.AddConfidential(&r.values, slices.Concat(file.Operations, file.OnHookError)...)
	r.printed.log(r.Logger, r.values.Mask)
	for _, line := range r.metrics {
		for name, value := range line.Labels {
			line.Labels[name] = r.values.Mask(value)
		}
	}
}

// Add adds operations to the plan.
func (r *Run) Add(added ...crud.Operation) { r.Plan.Operations = append(r.Plan.Operations, added...) }

// ContextType is the type of event for which a hook runs.
type ContextType string

// The types. The context of onStartup has none.
const (
	TypeSynchronization ContextType = "Synchronization"
	TypeEvent           ContextType = "Event"
	TypeSchedule        ContextType = "Schedule"
	TypeGroup           ContextType = "Group"
	TypeValidating      ContextType = "Validating"
	TypeMutating        ContextType = "Mutating"
)

// Context is one reason for a run: a binding context. Its JSON is that of shell-operator.
type Context struct {
	// Snapshot and WatchEvent are those of an Event: the newest state of the object, or for Deleted the last known one.
	Snapshot

	WatchEvent WatchEvent `json:"watchEvent,omitempty"`
	// Binding is the name of the binding or of its group, or onStartup.
	Binding string      `json:"binding"`
	Type    ContextType `json:"type,omitempty"`
	// Objects are those of a Synchronization.
	Objects []Snapshot `json:"objects,omitzero"`
	// Review has the request that a Validating or Mutating run answers.
	Review *admissionv1.AdmissionReview `json:"review,omitempty"`
	// Snapshots are the objects of the bindings in IncludeSnapshotsFrom or of the group, by the names of the bindings.
	Snapshots map[string][]Snapshot `json:"snapshots,omitzero"`
}

// Snapshot is an object, and the result of the jq filter of its binding.
type Snapshot struct {
	Object       *unstructured.Unstructured `json:"object,omitempty"`
	FilterResult json.RawMessage            `json:"filterResult,omitempty"`
}

// Objects returns the objects of the contexts that exist, in order: those of Synchronizations, and those of Events except for Deleted. They are
// shared with a cache, so they must not be changed.
func (r *Run) Objects() iter.Seq[*unstructured.Unstructured] {
	var all []Snapshot
	for _, c := range r.Contexts {
		if all = append(all, c.Objects...); c.WatchEvent != Deleted {
			all = append(all, c.Snapshot)
		}
	}
	return objectsOf(all)
}

// Snapshots returns the objects of a binding in IncludeSnapshotsFrom or in the group, when the run began. They must not be changed either.
func (r *Run) Snapshots(binding string) iter.Seq[*unstructured.Unstructured] {
	i := slices.IndexFunc(r.Contexts, func(c Context) bool { return c.Snapshots[binding] != nil })
	if i < 0 {
		return objectsOf(nil)
	}
	return objectsOf(r.Contexts[i].Snapshots[binding]) // those of other contexts are the same
}

// objectsOf leaves out snapshots without an object, such as those of bindings that keep none in memory.
func objectsOf(snapshots []Snapshot) iter.Seq[*unstructured.Unstructured] {
	return func(yield func(*unstructured.Unstructured) bool) {
		for _, s := range snapshots {
			if s.Object != nil && !yield(s.Object) {
				return
			}
		}
	}
}

// As returns copies of objects as an API type, which may be changed: As[corev1.Service](run.Objects()) has values of type *corev1.Service.
func As[T any, P interface {
	*T
	crud.Object
}](objects iter.Seq[*unstructured.Unstructured]) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for object := range objects {
			typed := P(new(T))
			err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.DeepCopy().Object, typed)
			if err != nil {
				typed, err = nil, fmt.Errorf("reading %s %s/%s as %T: %w", object.GetKind(), object.GetNamespace(), object.GetName(), typed, err)
			}
			if !yield(typed, err) {
				return
			}
		}
	}
}
