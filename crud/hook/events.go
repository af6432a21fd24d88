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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/crud"
)

// The reasons of the Events that the process records about the objects of operations. An Event that repeats is counted.
const (
	// ReasonConflicts: the object changed during as many runs in succession as Options.Conflicts allows, so that the hook failed. Remedy: find
	// the other writer of the object in its managedFields.
	ReasonConflicts = "HookConflicts"
	// ReasonDeletionDelayed: finalizers delay a deletion that a hook has requested or for which its operations wait. The type is Warning once it
	// is not awaited anymore. Remedy: check the controller that removes the finalizer.
	ReasonDeletionDelayed = "HookDeletionDelayed"
	// ReasonIncomplete: an operation failed after others of the run were executed, and the run is not repeated, because its binding allows failures.
	// Remedy: execute the remaining operations, or change the hook so that it repeats them.
	ReasonIncomplete = "HookIncomplete"
	// ReasonWriteFight: another writer undoes the writes of the hook again and again, so that they are delayed. Remedy: remove the fields from one of
	// the two writers; the message names the other one.
	ReasonWriteFight = "HookWriteFight"
)

// newRecorder returns the recorder of the context, or one that writes Events until the context ends.
func newRecorder(ctx context.Context, component string) record.EventRecorder {
	if recorder := controller.GetEventRecorder(ctx); recorder != nil {
		return recorder
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclient.Get(ctx).CoreV1().Events(metav1.NamespaceAll)})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component})
}

// recordf records an Event. Its message must be the same each time as long as its cause is, so that the Event is counted.
func (r *runner) recordf(run *Run, ref crud.Ref, uid types.UID, eventType, reason, format string, args ...any) {
	r.recorder.Event(&corev1.ObjectReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: uid},
		eventType, reason, run.values.Mask(fmt.Sprintf(format, args...)))
}

func (r *runner) recordResultf(run *Run, result crud.Result, eventType, reason, format string, args ...any) {
	if u := result.Object; u != nil {
		ref := crud.Ref{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
		r.recordf(run, ref, u.GetUID(), eventType, reason, format, args...)
	}
}

// recordErrorf records an Event about the object of an operation that failed, if the API server serves its kind.
func (t *term) recordErrorf(due *task, failed *crud.Error, eventType, reason, format string, args ...any) {
	if failed.Ref.APIVersion == "" {
		return
	}
	uid := failed.UID
	for _, m := range t.monitors[due.hook] {
		if uid == "" {
			uid = m.uidOf(failed.Ref)
		}
	}
	t.recordf(due.run, failed.Ref, uid, eventType, reason, format, args...)
}

// recordDeletion records that finalizers delay a deletion, and as a warning that it is not awaited anymore.
func (t *term) recordDeletion(run *Run, result crud.Result, eventType string) {
	format := "Hook %s has requested the deletion, which the finalizers %s delay"
	if eventType == corev1.EventTypeWarning {
		format = "Hook %s does not await the deletion anymore, which the finalizers %s have delayed for too long"
	}
	if finalizers := ofOthers(result.Finalizers); finalizers != "" {
		t.recordResultf(run, result, eventType, ReasonDeletionDelayed, format, run.Hook, finalizers)
	}
}

// ofOthers lists finalizers without those of the garbage collector, which a deletion in the foreground always has.
func ofOthers(finalizers []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(finalizers), storesPolicy), ", ")
}

// uidOf returns the UID of an object of the binding, or "" without one of this kind and name.
func (m *monitor) uidOf(ref crud.Ref) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[cache.NewObjectName(ref.Namespace, ref.Name)]
	if o == nil || o.now == nil || o.now.GetAPIVersion() != ref.APIVersion || o.now.GetKind() != ref.Kind {
		return ""
	}
	return o.now.GetUID()
}
