/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/tracker"
)

func service(name string, labels ...string) *corev1.Service {
	s := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for _, l := range labels {
		metav1.SetMetaDataLabel(&s.ObjectMeta, l, "true")
	}
	return s
}

func referenceTo(name string) tracker.Reference {
	return tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: name}
}

// pass is a reconciliation of the object one that names references.
func pass(t *testing.T, tr *tracking, err error, references ...tracker.Reference) {
	t.Helper()
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: one.Name}}
	for _, ref := range references {
		if err := tr.TrackReference(ref, object); err != nil {
			t.Fatalf("TrackReference: %v", err)
		}
	}
	tr.end(one, err == nil)
}

func newTestTracking() (*tracking, *[]types.NamespacedName) {
	var enqueued []types.NamespacedName
	tr := newTracking()
	tr.callback = func(key types.NamespacedName) { enqueued = append(enqueued, key) }
	return tr, &enqueued
}

func TestTracker_ReferenceIsNotNamedAnymore_IsForgottenAfterASuccess(t *testing.T) {
	tr, enqueued := newTestTracking()
	pass(t, tr, nil, referenceTo("a"))
	pass(t, tr, errors.New("failed before it named a"), referenceTo("b"))
	if !slices.Contains(tr.GetObservers(service("a")), one) {
		t.Error("a failed reconciliation has dropped a reference that it might not have reached")
	}
	pass(t, tr, nil, referenceTo("b"))
	*enqueued = nil
	tr.OnChanged(service("a"))
	if len(*enqueued) > 0 {
		t.Errorf("a dropped reference enqueues %v", *enqueued)
	}
	tr.OnChanged(service("b"))
	if !slices.Equal(*enqueued, []types.NamespacedName{one}) {
		t.Errorf("the reference enqueues %v", *enqueued)
	}
	pass(t, tr, nil) // the object does not exist anymore
	if observers := tr.GetObservers(service("b")); len(observers)+len(tr.references)+len(tr.observers) > 0 {
		t.Errorf("of a deleted object remains %v %v %v", observers, tr.references, tr.observers)
	}
}

// A replica that has lost the lease does not reconcile the object again.
func TestTracker_ObjectIsDeletedElsewhere_NothingRemains(t *testing.T) {
	tr, _ := newTestTracking()
	pass(t, tr, nil, referenceTo("a"))
	tr.OnDeletedObserver(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: one.Name}})
	if observers := tr.GetObservers(service("a")); len(observers)+len(tr.references)+len(tr.observers) > 0 {
		t.Errorf("of a deleted object remains %v %v %v", observers, tr.references, tr.observers)
	}
}

func TestTracker_UpstreamsReference_IsKept(t *testing.T) {
	upstream := tracker.New(func(types.NamespacedName) {}, controller.GetTrackerLease(t.Context()))
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: one.Name}}
	for _, name := range []string{"a", "b"} {
		if err := upstream.TrackReference(referenceTo(name), object); err != nil {
			t.Fatal(err)
		}
	}
	if len(upstream.GetObservers(service("a"))) == 0 {
		t.Error("the tracker of knative.dev/pkg forgets by itself now: this one is not needed anymore")
	}
}

// Of other objects' references, one has a state that must not be looked at.
func TestTracker_DroppedReference_LooksAtNoOtherReference(t *testing.T) {
	tr, _ := newTestTracking()
	pass(t, tr, nil, referenceTo("a"))
	tr.observers[referenceTo("b")] = map[types.NamespacedName]labels.Selector{}
	pass(t, tr, nil)
	if _, untouched := tr.observers[referenceTo("b")]; !untouched || len(tr.observers) > 1 {
		t.Errorf("dropping the reference to a has left %v", tr.observers)
	}
}

func TestTracker_NewReference_EnqueuesOnce(t *testing.T) {
	tr, enqueued := newTestTracking()
	pass(t, tr, nil, referenceTo("a"))
	pass(t, tr, nil, referenceTo("a"))
	if !slices.Equal(*enqueued, []types.NamespacedName{one}) {
		t.Errorf("enqueued: %v", *enqueued)
	}
}

func TestTracker_Selector_ObservesMatchingObjects(t *testing.T) {
	tr, _ := newTestTracking()
	pass(t, tr, nil, tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: "default", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"x": "true"}}})
	if got := tr.GetObservers(service("any", "x")); !slices.Equal(got, []types.NamespacedName{one}) {
		t.Errorf("observers of a matching object: %v", got)
	}
	if got := tr.GetObservers(service("any")); len(got) > 0 {
		t.Errorf("observers of another object: %v", got)
	}
}

// A selector is another pointer in each reconciliation.
func TestTracker_SelectorIsNamedAgain_EnqueuesOnceAndIsForgotten(t *testing.T) {
	tr, enqueued := newTestTracking()
	for range 2 {
		pass(t, tr, nil, tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: "default", Selector: &metav1.LabelSelector{}})
	}
	if !slices.Equal(*enqueued, []types.NamespacedName{one}) {
		t.Errorf("enqueued: %v", *enqueued)
	}
	pass(t, tr, nil, referenceTo("a"))
	if got := tr.GetObservers(service("any", "x")); len(got) > 0 {
		t.Errorf("observers by a dropped selector: %v", got)
	}
}

func TestTracker_InvalidReference_IsAnError(t *testing.T) {
	tr, _ := newTestTracking()
	if err := tr.TrackReference(tracker.Reference{APIVersion: "v1", Kind: "Service"}, service("a")); err == nil {
		t.Error("a reference without a name is valid")
	}
}

func TestConstructor_Tracker_IsThatOfTheFirstImplOnly(t *testing.T) {
	p, logs := newProcess(t)
	none := reconcileFunc(func(context.Context, string) error { return nil })
	var kept context.Context
	var second *controller.Impl
	first := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		kept = ctx //nolint:fatcontext // for a later controller
		impl := newImpl(ctx, none)
		second = newImpl(ctx, none)
		return impl
	})
	later := newImpl(kept, none)
	newImpl(kept, none)
	if late := logs.FilterMessageSnippet("not hardened").All(); len(late) != 1 || !strings.Contains(late[0].ContextMap()["stack"].(string), t.Name()) {
		t.Errorf("log: %v, want one line with the stack", late)
	}
	if _, ours := first.Tracker.(*tracking); !ours {
		t.Errorf("the tracker of the first controller is a %T", first.Tracker)
	}
	for _, impl := range []*controller.Impl{second, later} {
		if _, ours := impl.Tracker.(*tracking); ours {
			t.Error("a further controller has the tracker that enqueues keys of the first one")
		}
	}
}

func TestConstructor_TrackerOff_IsUpstreams(t *testing.T) {
	p, _ := newProcess(t, references)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { return nil }))
	})
	if _, ours := impl.Tracker.(*tracking); ours {
		t.Error("the tracker forgets although that is switched off")
	}
}
