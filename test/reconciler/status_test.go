/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// asIfCreated is a ConfigStore that makes SetDefaults do what it does during admission, so that it can be seen
// that it is called.
type asIfCreated struct{}

func (asIfCreated) ToContext(ctx context.Context) context.Context { return apis.WithinCreate(ctx) }

func TestReconcileKind_NewObject_HasDefaultsAndConditions(t *testing.T) {
	var conditions int
	var visibility v1.Visibility
	w := newWorld(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		conditions, visibility = len(as.Status.Conditions), as.Spec.Visibility
		return nil
	}}, controller.Options{ConfigStore: asIfCreated{}}, object())
	w.lead(t)
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	if conditions != 3 || visibility != v1.VisibilityClusterLocal {
		t.Errorf("ReconcileKind gets %d conditions and visibility %q", conditions, visibility)
	}
	if sent := w.statuses(); len(sent) != 1 || sent[0].Spec.Visibility != "" {
		t.Errorf("sent is %+v, want the status without the defaults of the spec", sent)
	}
}

// A client that waits for observedGeneration and then reads Ready would wait indefinitely for a reason.
func TestReconcileKind_ErrorWithoutACondition_LeavesReadyUnknown(t *testing.T) {
	ready := func(as *v1.AddressableService) {
		as.GetConditionSet().Manage(&as.Status).InitializeConditions()
		as.Status.MarkNotRequested()
		as.GetConditionSet().Manage(&as.Status).MarkTrue(v1.AddressableServiceConditionTargetResolved)
		as.Generation, as.Status.ObservedGeneration = 2, 1
	}
	w := leading(t, reconciling{returning(errInduced)}, object(ready))
	_ = w.reconcile()
	sent := w.statuses()
	if len(sent) != 1 {
		t.Fatalf("%d statuses are written, want 1", len(sent))
	}
	c := sent[0].Status.GetCondition(apis.ConditionReady)
	if sent[0].Status.ObservedGeneration != 2 || !c.IsUnknown() || c.Reason != "NewObservedGenFailure" {
		t.Errorf("the observed generation is %d, Ready %+v", sent[0].Status.ObservedGeneration, c)
	}
}

func TestStatus_OtherChangesByReconcileKind_AreNotWritten(t *testing.T) {
	w := leading(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		mark(as)
		as.Spec.Ref.Name = "changed"
		as.Labels = map[string]string{"changed": "true"}
		as.Annotations["changed"] = "true"
		as.Finalizers = nil
		return nil
	}}, object())
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	sent := w.statuses()
	if len(sent) != 1 || len(w.client.Actions()) != 1 || !isMarked(sent[0]) {
		t.Fatalf("sent is %v, want one status", w.client.Actions())
	}
	sent[0].Status = v1.AddressableServiceStatus{}
	if diff := cmp.Diff(object(), sent[0]); diff != "" {
		t.Errorf("changes of spec and metadata are sent (-want +got): %s", diff)
	}
	cached, _, err := w.objects.GetByKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(object(), cached); diff != "" {
		t.Errorf("the cache is changed (-want +got): %s", diff)
	}
}

func TestStatus_Unchanged_IsNotWritten(t *testing.T) {
	w := leading(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		mark(as)
		return nil
	}}, object())
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	if err := w.objects.Update(w.statuses()[0]); err != nil {
		t.Fatal(err)
	}
	w.client.ClearActions()
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	if actions := w.client.Actions(); len(actions) > 0 {
		t.Errorf("the second reconciliation makes the requests %v, want none", actions)
	}
}

func TestStatus_TransitionTime_ChangesWithItsConditionOnly(t *testing.T) {
	message := "first"
	long := apis.VolatileTime{}
	long.Inner.Time = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := leading(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		as.Status.MarkTargetNotResolved("Marked", message)
		return nil
	}}, object(func(as *v1.AddressableService) {
		as.GetConditionSet().Manage(&as.Status).InitializeConditions()
		as.Status.MarkTargetNotResolved("Marked", message)
		for i := range as.Status.Conditions {
			as.Status.Conditions[i].LastTransitionTime = long
		}
	}))
	for _, step := range []struct {
		message string
		moves   bool
	}{{"first", false}, {"second", true}} {
		message = step.message
		if err := w.reconcile(); err != nil {
			t.Fatal(err)
		}
		sent := w.statuses()
		c := sent[len(sent)-1].Status.GetCondition(v1.AddressableServiceConditionTargetResolved)
		if moved := !c.LastTransitionTime.Inner.Equal(&long.Inner); moved != step.moves {
			t.Errorf("with the %s message the transition time moves: %t, want %t", step.message, moved, step.moves)
		}
	}
}

func TestStatus_SkipStatusUpdates_IsNotWritten(t *testing.T) {
	var conditions int
	w := newWorld(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		conditions = len(as.Status.Conditions)
		mark(as)
		return nil
	}}, controller.Options{SkipStatusUpdates: true}, object())
	w.lead(t)
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	if len(w.client.Actions()) > 0 || conditions != 0 {
		t.Errorf("written is %v, ReconcileKind gets %d conditions, want neither", w.client.Actions(), conditions)
	}
}

// A status has one writer: a concurrent write by another one is replaced as a whole.
func TestStatus_Conflict_IsWrittenOverTheNewOne(t *testing.T) {
	w := leading(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		mark(as)
		return nil
	}}, object())
	conflicted := false
	w.client.PrependReactor("update", "addressableservices/status", func(clientgotesting.Action) (bool, runtime.Object, error) {
		if conflicted {
			return false, nil, nil
		}
		conflicted = true
		other := object(func(as *v1.AddressableService) {
			as.ResourceVersion = "2"
			as.Status.Annotations = map[string]string{"by": "another"}
		})
		if err := w.client.Tracker().Update(v1.SchemeGroupVersion.WithResource("addressableservices"), other, ns); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewConflict(v1.Resource("addressableservices"), "a", errInduced)
	})
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	sent := w.statuses()
	if len(sent) != 2 || sent[1].ResourceVersion != "2" || !isMarked(sent[1]) || sent[1].Status.Annotations != nil {
		t.Errorf("sent is %+v, want our status twice, the second time at the new version", sent)
	}
}

func TestStatus_UpdateFails_EventIsLost(t *testing.T) {
	w := leading(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		mark(as)
		return warning()
	}}, object())
	w.client.PrependReactor("update", "addressableservices/status", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, errInduced
	})
	if err := w.reconcile(); err == nil {
		t.Error("the reconciliation does not fail")
	}
	if got := w.events(); len(got) != 1 || got[0] != `Warning UpdateFailed Failed to update status for "a": induced` {
		t.Errorf("the events are %q", got)
	}
}
