/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

func TestDelete_Fails_ReportsIt(t *testing.T) {
	message := func(cause string) string { return "deleting Pod " + podName(1) + ": " + cause }
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), podName(1), reconcilertest.ErrInduced)
	rejected := message("pods \"" + podName(1) + "\" is forbidden: induced")
	other := "deleting Pod " + podName(0) + ": pods \"" + podName(0) + "\" is forbidden: induced"
	pods := objects{object(1, atRest), podAt(0, podReady), podAt(1, podReady)}
	stays := func(marks ...mark) []clientgotesting.UpdateActionImpl {
		return reconcilertest.Becomes(object(1, status(2, 2, 2, append([]mark{available}, marks...)...)))
	}
	gone := reconcilertest.Becomes(object(1, status(1, 1, 1, available, upToDate)))
	runTable(t, reconcilertesting.TableTest{{
		Name: "rejected", Objects: pods, WithReactors: reactions(reconcilertest.Failing("delete", "pods", forbidden)),
		WantDeletes: deletes{deleted(1)}, WantStatusUpdates: stays(stuck(v1alpha1.ReasonDeleteFailed, rejected)),
		WantEvents: []string{reconcilertest.Warning(v1alpha1.ReasonDeleteFailed, rejected)}, WantErr: true, PostConditions: withError("is forbidden: induced"),
	}, {
		Name: "no answer", Objects: pods, WithReactors: reactions(reconcilertest.Failing("delete", "pods", reconcilertest.ErrInduced)),
		WantDeletes: deletes{deleted(1)}, WantStatusUpdates: stays(stuck(v1alpha1.ReasonDeleteFailed, message("induced"))),
		WantEvents: []string{reconcilertest.Warning(v1alpha1.ReasonDeleteFailed, message("induced"))},
		WantErr:    true, PostConditions: withError("induced"),
	}, {
		Name: "it was already deleted: that is the desired state", Objects: pods,
		WithReactors: reactions(reconcilertest.Failing("delete", "pods", apierrors.NewNotFound(corev1.Resource("pods"), podName(1)))),
		WantDeletes:  deletes{deleted(1)}, WantStatusUpdates: gone,
	}, {
		Name: "it has changed since it was looked at, or another one has its name: that is left to the next reconciliation", Objects: pods,
		WithReactors:      reactions(reconcilertest.Failing("delete", "pods", apierrors.NewConflict(corev1.Resource("pods"), podName(1), reconcilertest.ErrInduced))),
		WantDeletes:       deletes{deleted(1)},
		WantStatusUpdates: stays(progressing(v1alpha1.ReasonScalingDown, "2 Pods exist, want 1")),
		WantErr:           true, PostConditions: withError("induced"),
	}, {
		Name:         "and no new Pod is created",
		Objects:      objects{object(1, two, status(1, 1, 1)), podAt(0), podAt(1)},
		WithReactors: reactions(reconcilertest.Failing("delete", "pods", forbidden)),
		WantDeletes:  deletes{deleted(0)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, two, status(2, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonDeleteFailed,
			"deleting Pod "+podName(0)+": pods \""+podName(1)+"\" is forbidden: induced")))),
		WantEvents: []string{reconcilertest.Warning(v1alpha1.ReasonDeleteFailed, "deleting Pod "+podName(0)+": pods \""+podName(1)+"\" is forbidden: induced")},
		WantErr:    true, PostConditions: withError("is forbidden: induced"),
	}, {
		Name:         "of a terminated one: it blocks nothing, so that another takes its place and old ones are deleted",
		Objects:      objects{object(1, two, status(1, 1, 1)), podAt(0), podAt(1, podPhase(corev1.PodFailed, time.Hour))},
		WithReactors: reactions(rejecting(1)),
		WantDeletes:  deletes{deleted(1), deleted(0)}, WantCreates: objects{created(object(1, two), 2)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, two, status(1, 1, 0, waiting(0, 1), stuck(v1alpha1.ReasonDeleteFailed, rejected)))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonDeleteFailed, rejected)},
		WantErr:           true, PostConditions: withError("is forbidden: induced"),
	}, {
		Name: "of more terminated ones than desired: their number must not grow",
		Objects: objects{
			object(1, atRest), podAt(0, podPhase(corev1.PodFailed, time.Hour)), podAt(1, podPhase(corev1.PodFailed, time.Hour)),
		},
		WithReactors: reactions(rejecting(0, 1)), WantDeletes: deletes{deleted(0), deleted(1)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(0, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonDeleteFailed, other)))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonDeleteFailed, other)},
		WantErr:           true, PostConditions: withError("is forbidden: induced"),
	}, {
		Name:         "of a terminated one, with an unknown result",
		Objects:      objects{object(1, atRest), podAt(1, podPhase(corev1.PodFailed, time.Hour))},
		WithReactors: reactions(reconcilertest.Failing("delete", "pods", reconcilertest.ErrInduced)), WantDeletes: deletes{deleted(1)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(0, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonDeleteFailed, message("induced"))))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonDeleteFailed, message("induced"))},
		WantErr:           true, PostConditions: withError("induced"),
	}})
}

// rejecting makes the API server reject deletions of these Pods.
func rejecting(slots ...int) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if deletion, ok := action.(clientgotesting.DeleteAction); ok {
			for _, slot := range slots {
				if name := podName(slot); deletion.GetName() == name {
					return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), name, reconcilertest.ErrInduced)
				}
			}
		}
		return false, nil, nil
	}
}

func TestDelete_PodHasChangedSinceItWasObserved_Stays(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"it became ready": podReady,
		"another Pod has its name, with a version that is by chance the same": func(pod *corev1.Pod) { pod.UID = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object(0), podAt(0))
			live := podAt(0, change)
			if w.server.pods[live.Name] = live; live.UID == podAt(0).UID {
				live.ResourceVersion = "8"
			}
			if err := w.reconcile(t.Context()); reconcilertest.Retried(err, "it is another one") != "" {
				t.Errorf("the reconciliation ends with %v, want a conflict that is repeated", err)
			}
			if w.server.pods[live.Name].DeletionTimestamp != nil {
				t.Error("it is deleted")
			}
		})
	}
}

func TestReconcile_PodEnded_ItIsHeldForAWhile(t *testing.T) {
	w := newWorld(t, object(0), podAt(0, podPhase(corev1.PodFailed, 0)))
	for _, want := range []struct {
		after   time.Duration
		recheck time.Duration
		deleted int
	}{
		{after: 0, recheck: holdEnded},
		{after: holdEnded / 2, recheck: holdEnded / 2},
		{after: holdEnded / 2, deleted: 1},
	} {
		w.clock.SetTime(w.clock.Now().Add(want.after))
		_, recheck := controller.IsRequeueKey(w.reconcile(t.Context()))
		deleted := 0
		for _, action := range w.kube.Actions() {
			if action.GetVerb() == "delete" {
				deleted++
			}
		}
		if recheck != want.recheck || deleted != want.deleted {
			t.Errorf("%s later the reconciliation ends after %d deletions, and the next one is after %s; want %d and %s",
				want.after, deleted, recheck, want.deleted, want.recheck)
		}
	}
}
