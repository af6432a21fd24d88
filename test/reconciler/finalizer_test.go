/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"slices"
	"testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func withFinalizers(names ...string) func(*v1.AddressableService) {
	return func(as *v1.AddressableService) { as.Finalizers = names }
}

func TestFinalizer_NewObject_IsSetBeforeReconcileKind(t *testing.T) {
	var seen []string
	w := leading(t, finalizing{reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		seen = as.Finalizers
		return nil
	}}, returning(nil)}, object(withFinalizers()))
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	if len(w.patches()) != 1 || len(seen) != 1 {
		t.Errorf("patched is %q, and ReconcileKind sees the finalizers %q", w.patches(), seen)
	}
}

func TestFinalizer_WithoutFinalizeKind_IsNeverSet(t *testing.T) {
	called := 0
	for _, as := range []*v1.AddressableService{object(withFinalizers()), object(beingDeleted)} {
		w := leading(t, reconciling{func(context.Context, *v1.AddressableService) reconciler.Event {
			called++
			return nil
		}}, as)
		if err := w.reconcile(); err != nil {
			t.Fatal(err)
		}
		if patches := w.patches(); len(patches) > 0 {
			t.Errorf("finalizers are written: %q", patches)
		}
	}
	if called != 1 {
		t.Errorf("ReconcileKind is called %d times, want once: not for the object that is being deleted", called)
	}
}

// An object that waits for the finalizer of another controller is finalized again by each event that enqueues it.
func TestFinalizeKind_OurFinalizerRemoved_IsCalledAgain(t *testing.T) {
	called := 0
	w := leading(t, finalizing{reconciling{returning(nil)}, func(context.Context, *v1.AddressableService) reconciler.Event {
		called++
		return nil
	}}, object(beingDeleted, withFinalizers("example.com/another")))
	for range 2 {
		if err := w.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	if called != 2 || len(w.client.Actions()) > 0 {
		t.Errorf("FinalizeKind is called %d times, want 2, and written is %v, want nothing", called, w.client.Actions())
	}
}

func TestFinalizeKind_StatusChanges_AreWritten(t *testing.T) {
	for name, row := range map[string]struct {
		result  reconciler.Event
		written bool
	}{
		"is written while the finalizer stays":     {errInduced, true},
		"is lost when the finalizer is taken away": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := leading(t, finalizing{reconciling{returning(nil)}, func(_ context.Context, as *v1.AddressableService) reconciler.Event {
				mark(as)
				return row.result
			}}, object(beingDeleted))
			_ = w.reconcile()
			if sent := w.statuses(); (len(sent) == 1) != row.written {
				t.Errorf("%d statuses are written, want one: %t", len(sent), row.written)
			}
		})
	}
}

// Neither conditions nor the observed generation nor defaults are taken care of, as they are around ReconcileKind.
func TestFinalizeKind_Object_IsPassedUnchanged(t *testing.T) {
	var conditions int
	var visibility v1.Visibility
	w := newWorld(t, finalizing{reconciling{returning(nil)}, func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		conditions, visibility = len(as.Status.Conditions), as.Spec.Visibility
		mark(as)
		return errInduced
	}}, controller.Options{ConfigStore: asIfCreated{}}, object(beingDeleted))
	w.lead(t)
	_ = w.reconcile()
	if conditions != 0 || visibility != "" {
		t.Errorf("FinalizeKind gets %d conditions and visibility %q, want neither", conditions, visibility)
	}
	if sent := w.statuses(); len(sent) != 1 || sent[0].Status.ObservedGeneration != 0 {
		t.Errorf("the observed generation is taken care of: %+v", sent)
	}
}

func TestFinalizer_OtherFinalizers_AreKept(t *testing.T) {
	const other = "example.com/another"
	w := leading(t, finalizing{reconciling{returning(nil)}, returning(nil)}, object(beingDeleted, func(as *v1.AddressableService) {
		as.Finalizers = append(as.Finalizers, other)
	}))
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	want := []string{`{"metadata":{"finalizers":["` + other + `"],"resourceVersion":"1"}}`}
	if got := w.patches(); !slices.Equal(got, want) {
		t.Errorf("the patches are %q, want %q", got, want)
	}
}

func TestFinalizer_ServerSideApply_IsSet(t *testing.T) {
	w := newWorld(t, finalizing{reconciling{returning(nil)}, returning(nil)}, controller.Options{
		UseServerSideApplyForFinalizers: true, FinalizerFieldManager: "tests",
	}, object(withFinalizers()))
	w.lead(t)
	_ = w.reconcile() // the fake rejects an apply to an object without managed fields
	want := []string{`{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","metadata":{"finalizers":` +
		`["samples.knative.dev/addressableservice"],"name":"a","namespace":"ns","uid":"uid"}}`}
	if got := w.patches(); !slices.Equal(got, want) {
		t.Errorf("the patches are %q, want %q", got, want)
	}
}
