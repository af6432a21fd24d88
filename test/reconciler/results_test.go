/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// TestReconcileKind_Result_DecidesEventAndRequeue shows the event that is recorded and what the queue does. The status is
// written whatever the result is.
func TestReconcileKind_Result_DecidesEventAndRequeue(t *testing.T) {
	conflict := apierrors.NewConflict(v1.Resource("addressableservices"), "a", errInduced)
	for name, row := range map[string]struct {
		result reconciler.Event
		event  string
		queue  string
	}{
		"nil":                      {nil, "", done},
		"an error":                 {errInduced, "Warning InternalError induced", backOff},
		"a conflict":               {conflict, "", backOff},
		"a wrapped conflict":       {fmt.Errorf("writing: %w", conflict), "", backOff},
		"a Normal event":           {normal(), "Normal Worked it worked 1 time", done},
		"a Warning event":          {warning(), "Warning Broke it broke", done},
		"a wrapped Normal event":   {fmt.Errorf("context: %w", normal()), "Normal Worked it worked 1 time", backOff},
		"a wrapped Warning event":  {fmt.Errorf("context: %w", warning()), "Warning Broke it broke", backOff},
		"a permanent error":        {controller.NewPermanentError(errInduced), "Warning InternalError induced", done},
		"a wrapped permanent":      {fmt.Errorf("context: %w", controller.NewPermanentError(errInduced)), "Warning InternalError context: induced", done},
		"requeue at once":          {controller.NewRequeueImmediately(), "", again},
		"requeue later":            {controller.NewRequeueAfter(time.Millisecond), "", again},
		"a wrapped requeue":        {fmt.Errorf("context: %w", controller.NewRequeueAfter(time.Millisecond)), "", again},
		"an error with requeue":    {errors.Join(errInduced, controller.NewRequeueAfter(time.Millisecond)), "", again},
		"requeue within an event":  {reconciler.NewEvent(corev1.EventTypeWarning, "Broke", "%w", controller.NewRequeueAfter(time.Millisecond)), "Warning Broke requeue after: 1ms", done},
		"skip":                     {controller.NewSkipKey(key), "", done},
		"a Normal event by itself": {&reconciler.ReconcilerEvent{EventType: corev1.EventTypeNormal, Reason: "Made", Format: "made"}, "Normal Made made", done},
	} {
		t.Run(name, func(t *testing.T) {
			w := leading(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
				mark(as)
				return row.result
			}}, object())
			_ = w.reconcile()
			if got := strings.Join(w.events(), "; "); got != row.event {
				t.Errorf("the events are %q, want %q", got, row.event)
			}
			if sent := w.statuses(); len(sent) != 1 || !isMarked(sent[0]) {
				t.Errorf("%d statuses are written, want the one that ReconcileKind left", len(sent))
			}

			var reconciliations []string
			leading(t, reconciling{first(row.result, &reconciliations)}, object()).queued(t, &reconciliations)
			if got := strings.Join(reconciliations, "; "); got != row.queue {
				t.Errorf("the queue does %q, want %q", got, row.queue)
			}
		})
	}
}

// TestFinalizeKind_Result_DecidesEventAndFinalizer shows the same for an object that is being deleted, and whether the finalizer is
// removed. If it stays and the key is not queued again, the object hangs until another event enqueues it.
func TestFinalizeKind_Result_DecidesEventAndFinalizer(t *testing.T) {
	const updated = `Normal FinalizerUpdate Updated "a" finalizers`
	for name, row := range map[string]struct {
		result reconciler.Event
		goes   bool
		events []string
		queue  string
	}{
		"nil":                     {nil, true, []string{updated}, done},
		"a Normal event":          {normal(), true, []string{updated, "Normal Worked it worked 1 time"}, done},
		"a wrapped Normal event":  {fmt.Errorf("context: %w", normal()), true, []string{updated, "Normal Worked it worked 1 time"}, backOff},
		"an error":                {errInduced, false, []string{"Warning InternalError induced"}, backOff},
		"a Warning event":         {warning(), false, []string{"Warning Broke it broke"}, done},
		"a wrapped Warning event": {fmt.Errorf("context: %w", warning()), false, []string{"Warning Broke it broke"}, backOff},
		"a permanent error":       {controller.NewPermanentError(errInduced), false, []string{"Warning InternalError induced"}, done},
		"requeue later":           {controller.NewRequeueAfter(time.Millisecond), false, nil, again},
		"skip":                    {controller.NewSkipKey(key), false, nil, done},
	} {
		t.Run(name, func(t *testing.T) {
			w := leading(t, finalizing{reconciling{returning(nil)}, returning(row.result)}, object(beingDeleted))
			_ = w.reconcile()
			if got := w.events(); !slices.Equal(got, row.events) {
				t.Errorf("the events are %q, want %q", got, row.events)
			}
			if patches := w.patches(); (len(patches) == 1) != row.goes {
				t.Errorf("the patches are %q, want one that takes the finalizer away: %t", patches, row.goes)
			}

			var reconciliations []string
			leading(t, finalizing{reconciling{returning(nil)}, first(row.result, &reconciliations)}, object(beingDeleted)).queued(t, &reconciliations)
			if got := strings.Join(reconciliations, "; "); got != row.queue {
				t.Errorf("the queue does %q, want %q", got, row.queue)
			}
		})
	}
}

func TestRequeue_After_KeepsItsTime(t *testing.T) {
	w := leading(t, reconciling{returning(controller.NewRequeueAfter(time.Hour))}, object())
	if requeue, after := controller.IsRequeueKey(w.reconcile()); !requeue || after != time.Hour {
		t.Errorf("another reconciliation is requested: %t, after %s; want after an hour", requeue, after)
	}
}
