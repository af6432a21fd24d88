/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	kubeclient "knative.dev/pkg/client/injection/kube/client"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// conflictDelay is the first delay after a conflict, and mostConflictDelay the longest, also of the wait for a newer state of the object.
const (
	conflictDelay     = 20 * time.Millisecond
	mostConflictDelay = 5 * time.Second
)

func (t *term) settle(q *queue, due *task, answer answer) {
	logger, isWaiting := due.run.Logger, due.rest != nil
	due.rest = nil
	var reason string
	if answer.err != nil {
		reason = due.run.values.Mask(answer.err.Error())
	}
	switch answer.verdict {
	case succeeded:
		t.finish(q, due)
	case canceled:
		logger.Infow("The process ended a run of a hook", "reason", reason)
	case terminating:
		if !isWaiting {
			logger.Infow("The operations of a hook wait for the deletion of an object", "reason", reason)
			due.deadline, due.backoff = time.Now().Add(t.options.Deletions), followUps
		} else if time.Now().After(due.deadline) {
			t.fail(q, due, reason)
			return
		}
		due.postpone(*answer.rest)
	case conflicted:
		t.measured.conflicts.Add(context.Background(), 1, due.attributes(q))
		if due.conflicts++; t.options.Conflicts < 0 || due.conflicts < t.options.Conflicts {
			logger.Infow("A hook runs again, because an object has changed since it decided", "conflicts", due.conflicts, "reason", reason)
			due.notBefore = time.Now().Add(min(conflictDelay<<min(due.conflicts-1, 20), mostConflictDelay))
			due.isStale = t.staleness(due.hook, answer)
			return
		}
		t.recordErrorf(due, answer.cause, corev1.EventTypeWarning, ReasonConflicts,
			"Hook %s failed: the object changed during each of %d runs, before the operation %s", due.hook.name, t.options.Conflicts, answer.cause.Operation)
		t.fail(q, due, reason)
	case failed:
		t.fail(q, due, reason)
	}
}

// fail counts a failure, and repeats the task later, unless its bindings allow failures.
func (t *term) fail(q *queue, due *task, reason string) {
	t.measured.errors.Add(context.Background(), 1, due.attributes(q))
	due.conflicts = 0
	if due.allowsFailure {
		due.run.Logger.Errorw("A hook failed, which its binding allows", "error", reason)
		t.finish(q, due)
		return
	}
	delay := t.failures.When(due)
	due.notBefore = time.Now().Add(delay)
	due.run.Logger.Errorw("A hook failed", "error", reason, "repeatedIn", delay.String(), "failures", t.failures.NumRequeues(due))
}

// staleness returns a function that reports whether the caches of a hook still have the version of the object that an operation required.
func (t *term) staleness(h *Hook, answer answer) func() bool {
	until := time.Now().Add(mostConflictDelay)
	return func() bool {
		return answer.lost != "" && time.Now().Before(until) && slices.ContainsFunc(t.monitors[h], func(m *monitor) bool {
			s := m.now(cache.NewObjectName(answer.cause.Ref.Namespace, answer.cause.Ref.Name))
			return s != nil && s.GetResourceVersion() == answer.lost
		})
	}
}

// followUps are the delays between looks at an object that is being deleted.
var followUps = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Steps: 100, Cap: 10 * time.Second}

// postpone has the rest of a plan wait. Its operations themselves do not: the queue continues with others.
func (t *task) postpone(rest operations.File) {
	rest.Operations = slices.Clone(rest.Operations)
	for i := range rest.Operations {
		rest.Operations[i].Wait = 0
	}
	t.rest, t.notBefore = &rest, time.Now().Add(t.backoff.Step())
}

// The reasons of the Events that the process records about the objects of operations. An Event that repeats is counted.
const (
	// ReasonConflicts: the object changed during as many runs in succession as Options.Conflicts allows, so that the hook failed. Remedy: find
	// the other writer of the object in its managedFields.
	ReasonConflicts = "HookConflicts"
	// ReasonDeletionDelayed: finalizers delay a deletion that a hook has requested or for which its operations wait. Remedy: check the controller
	// that removes the finalizer.
	ReasonDeletionDelayed = "HookDeletionDelayed"
	// ReasonWriteFight: another writer undoes the writes of the hook again and again, so that they are delayed. Remedy: remove the fields from one of
	// the two writers; the message names the other one.
	ReasonWriteFight = "HookWriteFight"
)

// newRecorder returns a recorder that writes Events until the context ends.
func newRecorder(ctx context.Context, component string) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclient.Get(ctx).CoreV1().Events(metav1.NamespaceAll)})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component})
}

// recordf records an Event. Its message must be the same each time as long as its cause is, so that the Event is counted.
func (t *term) recordf(run *Run, about runtime.Object, eventType, reason, format string, args ...any) {
	t.recorder.Event(about, eventType, reason, run.values.Mask(fmt.Sprintf(format, args...)))
}

// recordErrorf records an Event about the object of an operation that failed, if the API server serves its kind.
func (t *term) recordErrorf(due *task, failed *crud.Error, eventType, reason, format string, args ...any) {
	ref, uid := failed.Ref, failed.UID
	if ref.APIVersion == "" {
		return
	}
	for _, m := range t.monitors[due.hook] {
		s := m.now(cache.NewObjectName(ref.Namespace, ref.Name))
		if uid == "" && s != nil && s.GetAPIVersion() == ref.APIVersion && s.GetKind() == ref.Kind {
			uid = s.GetUID()
		}
	}
	about := &corev1.ObjectReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: uid}
	t.recordf(due.run, about, eventType, reason, format, args...)
}

// ofOthers lists finalizers without those by which the API server stores the propagation policy of a deletion, for the garbage collector.
func ofOthers(finalizers []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(finalizers), func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	}), ", ")
}
