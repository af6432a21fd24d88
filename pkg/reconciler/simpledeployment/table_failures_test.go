/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgotesting "k8s.io/client-go/testing"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

var (
	errQuota = apierrors.NewForbidden(corev1.Resource("pods"), podName(0), errors.New("exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3"))
	// errServer leaves open whether it was done.
	errServer = apierrors.NewInternalError(reconcilertest.ErrInduced)
)

var quotaMessage = "pods \"" + podName(0) + "\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3"

const serverMessage = "Internal error occurred: induced"

// rejectedCreation is a row in which a Pod cannot be made.
func rejectedCreation(name string, objs objects, err error, message string) reconcilertesting.TableRow {
	message = "creating Pod " + podName(0) + ": " + message
	return reconcilertesting.TableRow{
		Name: name, Objects: objs, WithReactors: reactions(reconcilertest.Failing("create", "pods", err)),
		WantCreates:       objects{created(object(2), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(0, 0, 0, waiting(0, 2), stuck(v1alpha1.ReasonCreateFailed, message)))),
		WantErr:           true,
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonCreateFailed, message)},
		PostConditions:    withError(message),
	}
}

func reactions(all ...clientgotesting.ReactionFunc) []clientgotesting.ReactionFunc { return all }

func TestCreate_Fails_ReportsIt(t *testing.T) {
	runTable(t, reconcilertesting.TableTest{
		rejectedCreation("rejected, as by a quota: the others are not tried, and the object is requeued", objects{object(2)}, errQuota, quotaMessage),
		rejectedCreation("no answer: the Pod may have been created", objects{object(2)}, reconcilertest.ErrInduced, "induced"),
		rejectedCreation("the server failed: the Pod may have been created", objects{object(2)}, errServer, serverMessage),
		{
			Name:           "rejected as before: no event",
			Objects:        objects{object(2, status(0, 0, 0, waiting(0, 2), stuck(v1alpha1.ReasonCreateFailed, "creating Pod "+podName(0)+": "+quotaMessage)))},
			WithReactors:   reactions(reconcilertest.Failing("create", "pods", errQuota)),
			WantCreates:    objects{created(object(2), 0)},
			WantErr:        true,
			PostConditions: withError(quotaMessage),
		},
		{
			Name:              "no longer rejected",
			Objects:           objects{object(1, status(0, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonCreateFailed, "quota")))},
			WantCreates:       objects{created(object(1), 0)},
			WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 0, waiting(0, 1), progressing(v1alpha1.ReasonWaitingForPods, "0 of 1 Pods are ready")))),
			WantEvents:        []string{"Normal Recovered No longer blocked; reconciling Pods"},
		},
	})
}

func TestCreate_NamespaceIsDeleted_IsNoFailure(t *testing.T) {
	err := apierrors.NewForbidden(corev1.Resource("pods"), podName(0), reconcilertest.ErrInduced)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	runTable(t, reconcilertesting.TableTest{{
		Name: "the object is deleted with it", Objects: objects{object(2)}, WithReactors: reactions(reconcilertest.Failing("create", "pods", err)),
		WantCreates:       objects{created(object(2), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(0, 0, 0, waiting(0, 2), progressing(v1alpha1.ReasonWaitingForPods, "0 of 2 Pods are ready")))),
	}})
}

// inTheWay is a Pod of ours that the cache does not have.
func inTheWay(w *world) { w.server.put(podAt(0)) }

func TestCreate_NameTakenAndUnreadable_ReportsIt(t *testing.T) {
	const getFails = "induced"
	message := "reading Pod " + podName(0) + ": " + getFails
	runTable(t, reconcilertesting.TableTest{{
		Name:              "reading fails",
		Objects:           objects{object(1)},
		OtherTestData:     reconcilertest.Prepared(inTheWay),
		WithReactors:      reactions(reconcilertest.Failing("get", "pods", reconcilertest.ErrInduced)),
		WantCreates:       objects{created(object(1), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(0, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonCreateFailed, message)))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonCreateFailed, message)},
		WantErr:           true,
		PostConditions:    withError(message),
	}})
}

func TestCreate_NameBecomesFree_IsGiven(t *testing.T) {
	w := newWorld(t, object(1))
	inTheWay(w)
	w.kube.PrependReactor("get", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) {
		w.server.remove(podName(0))
		return false, nil, nil
	})
	if err := w.reconcile(t.Context()); err != nil || len(w.server.pods) != 1 || w.server.pods[podName(0)] == nil {
		t.Errorf("the reconciliation ends with %v, and the Pods are %v", err, w.server.pods)
	}
}

func TestStatus_UpdateFails_ReturnsError(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Group: "samples.knative.dev", Resource: "simpledeployments"}, "a", reconcilertest.ErrInduced)
	for name, err := range map[string]error{"induced": reconcilertest.ErrInduced, "conflict": conflict} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object(1), podAt(0, podReady))
			fails := true
			w.samples.PrependReactor("update", "simpledeployments", func(clientgotesting.Action) (bool, runtime.Object, error) {
				return fails, nil, err
			})
			if got := w.reconcile(t.Context()); got == nil {
				t.Error("the reconciliation ends well, want it to be repeated")
			}
			fails = false
			if got := w.reconcile(t.Context()); got != nil {
				t.Errorf("the next reconciliation ends with %v", got)
			}
		})
	}
}

// Without a memory of its writes, a reconciliation may begin before the cache has those of the last one.
func TestReconcile_CacheLacksTheLastWrites_RepeatsNone(t *testing.T) {
	w := newWorld(t, object(2, two), podAt(0, podReady), podAt(1, podReady))
	for range 3 {
		// How it ends does not matter.
		_ = w.reconcile(t.Context())
	}
	if len(w.server.pods) != 3 {
		t.Errorf("there are %d Pods, want one more than before", len(w.server.pods))
	}
}

// Each status update enqueues the object, and the API server may word the same rejection differently each time.
func TestReconcile_RejectionIsWordedDifferently_StatusIsWrittenOnce(t *testing.T) {
	w := newWorld(t, object(2))
	tries, written := 0, 0
	w.kube.PrependReactor("create", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "it", fmt.Errorf("exceeded quota: few, requested: pods=1, used: pods=%d, limited: pods=3", tries))
	})
	w.samples.PrependReactor("update", "simpledeployments", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		written++
		return false, nil, w.objects.Update(action.(clientgotesting.UpdateAction).GetObject())
	})
	const reconciliations = 3
	for range reconciliations {
		if err := w.reconcile(t.Context()); reconcilertest.Retried(err, "exceeded quota: ") != "" {
			t.Errorf("the reconciliation ends with %v, want that it is retried", err)
		}
	}
	if tries != reconciliations || written != 1 {
		t.Errorf("%d tries and %d status updates, want %d and 1", tries, written, reconciliations)
	}
}

// The events of Pods that are deleted with the namespace enqueue the object again.
func TestReconcile_NamespaceIsDeleted_TriesOneCreation(t *testing.T) {
	w := newWorld(t, object(2))
	tries := 0
	w.kube.PrependReactor("create", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) {
		tries++
		err := apierrors.NewForbidden(corev1.Resource("pods"), podName(0), errors.New("unable to create new content in namespace ns because it is being terminated"))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace"}}
		return true, nil, err
	})
	for range 3 {
		if err := w.reconcile(t.Context()); err != nil {
			t.Errorf("the reconciliation ends with %v, want no failure", err)
		}
	}
	if tries != 1 {
		t.Errorf("%d tries, want 1", tries)
	}
}
