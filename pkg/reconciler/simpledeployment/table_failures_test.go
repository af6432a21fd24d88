/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

var (
	errQuota = apierrors.NewForbidden(corev1.Resource("pods"), podName(0), reconcilertest.ErrInduced)
	// errServer leaves open whether it was done.
	errServer = apierrors.NewInternalError(reconcilertest.ErrInduced)
)

var quotaMessage = "pods \"" + podName(0) + "\" is forbidden: induced"

const serverMessage = "Internal error occurred: induced"

// rejectedCreation is a row in which a Pod cannot be made.
func rejectedCreation(name string, objs objects, err error, message string) reconcilertesting.TableRow {
	message = "creating Pod " + podName(0) + ": " + message
	return reconcilertesting.TableRow{
		Name: name, Objects: objs, WithReactors: reactions(reconcilertest.Failing("patch", "pods", err)),
		WantPatches:       patches{applied(object(2), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(0, 0, 0, waiting(0, 2), stuck(v1alpha1.ReasonCreateFailed, message)))),
		WantErr:           true,
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonCreateFailed, message)},
	}
}

func reactions(all ...clientgotesting.ReactionFunc) []clientgotesting.ReactionFunc { return all }

func with(row reconcilertesting.TableRow, change func(*reconcilertesting.TableRow)) reconcilertesting.TableRow {
	change(&row)
	return row
}

// doubtful is that the next reconciliation reads the Pods from the API server.
var doubtful = reconcilertest.Ends(func(w *world, _ error) string {
	if !w.inner.expectations.Doubtful(object(0)) {
		return "the next reconciliation does not read the Pods although the result is unknown"
	}
	return ""
})

func TestCreate_Fails_ReportsIt(t *testing.T) {
	runTable(t, reconcilertesting.TableTest{
		with(rejectedCreation("rejected, as by a quota: the others are not tried, and the object is requeued", objects{object(2)}, errQuota, quotaMessage),
			func(row *reconcilertesting.TableRow) { row.PostConditions = withRecheck(time.Second) }),
		with(rejectedCreation("no answer: the Pod may have been created", objects{object(2)}, reconcilertest.ErrInduced, "induced"),
			func(row *reconcilertesting.TableRow) {
				row.PostConditions = withError("induced", true)
			}),
		with(rejectedCreation("the server failed: the Pod may have been created", objects{object(2)}, errServer, serverMessage),
			func(row *reconcilertesting.TableRow) {
				row.PostConditions = append(withRecheck(time.Second), doubtful...)
			}),
		{
			Name:           "rejected as before: no event",
			Objects:        objects{object(2, status(0, 0, 0, waiting(0, 2), stuck(v1alpha1.ReasonCreateFailed, "creating Pod "+podName(0)+": "+quotaMessage)))},
			WithReactors:   reactions(reconcilertest.Failing("patch", "pods", errQuota)),
			WantPatches:    patches{applied(object(2), 0)},
			WantErr:        true,
			PostConditions: withRecheck(time.Second),
		},
		{
			Name:              "no longer rejected",
			Objects:           objects{object(1, status(0, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonCreateFailed, "quota")))},
			WantPatches:       patches{applied(object(1), 0)},
			WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 0, waiting(0, 1), progressing(v1alpha1.ReasonWaitingForPods, "0 of 1 Pods are ready")))),
			WantEvents:        []string{"Normal Recovered No longer blocked; reconciling Pods"},
		},
	})
}

// Deleting a namespace deletes the Pods one by one, each of which enqueues the object.
func TestCreate_NamespaceIsDeleted_IsNotTriedAgain(t *testing.T) {
	w := newWorld(t, object(2))
	creations := 0
	w.kube.PrependReactor("patch", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) {
		creations++
		err := apierrors.NewForbidden(corev1.Resource("pods"), podName(0), reconcilertest.ErrInduced)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		return true, nil, err
	})
	for range 3 {
		if err := w.reconcile(t.Context()); err != nil {
			t.Errorf("the reconciliation ends with %v, want no failure", err)
		}
	}
	if creations != 1 {
		t.Errorf("%d Pods were created, want one attempt", creations)
	}
}

// inTheWay is a Pod of ours that the cache does not have, in a process that has read the others.
func inTheWay(w *world) {
	w.inner.expectations.Read(object(0), nil)
	w.server.put(podAt(0))
}

func TestCreate_NameTakenAndUnreadable_ReportsIt(t *testing.T) {
	const getFails = "induced"
	message := "reading Pod " + podName(0) + ": " + getFails
	runTable(t, reconcilertesting.TableTest{{
		Name:              "reading fails",
		Objects:           objects{object(1)},
		OtherTestData:     reconcilertest.Prepared(inTheWay),
		WithReactors:      reactions(reconcilertest.Failing("get", "pods", reconcilertest.ErrInduced)),
		WantPatches:       patches{applied(object(1), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(0, 0, 0, waiting(0, 1), stuck(v1alpha1.ReasonReadFailed, message)))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonReadFailed, message)},
		WantErr:           true,
		PostConditions:    withError(message, true),
	}, {
		Name:              "it was deleted concurrently",
		Objects:           objects{object(1)},
		OtherTestData:     reconcilertest.Prepared(inTheWay),
		WithReactors:      reactions(reconcilertest.Failing("get", "pods", apierrors.NewNotFound(corev1.Resource("pods"), podName(0)))),
		WantPatches:       patches{applied(object(1), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(0, 0, 0, waiting(0, 1), progressing(v1alpha1.ReasonWaitingForPods, "0 of 1 Pods are ready")))),
		WantErr:           true,
		PostConditions:    withError("it is another one", false),
	}})
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

func TestReconcile_CacheLacksTheLastWrites_IsPostponed(t *testing.T) {
	w := newWorld(t, object(2))
	if err := w.reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	writes := len(w.kube.Actions())
	if requeue, after := controller.IsRequeueKey(w.reconcile(t.Context())); !requeue || after == 0 || len(w.kube.Actions()) != writes {
		t.Errorf("a reconciliation took place before the cache had the Pods that the last one made")
	}
	for _, pod := range w.server.pods {
		if err := w.pods.Add(pod.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.reconcile(t.Context()); err != nil || len(w.kube.Actions()) != writes {
		t.Errorf("the reconciliation ends with %v, after %v", err, w.kube.Actions()[writes:])
	}
}

func TestRejected_StatusCodes_ReportsWhetherTheRequestWasRejected(t *testing.T) {
	for code, want := range map[int32]bool{
		http.StatusBadRequest: true, http.StatusForbidden: true, http.StatusUnprocessableEntity: true, http.StatusTooManyRequests: true,
		http.StatusRequestTimeout: false, http.StatusInternalServerError: false, http.StatusServiceUnavailable: false, http.StatusGatewayTimeout: false,
	} {
		err := &apierrors.StatusError{}
		err.ErrStatus.Code = code
		if got := rejected(err); got != want {
			t.Errorf("rejected(code %d) = %t, want %t", code, got, want)
		}
	}
	if rejected(reconcilertest.ErrInduced) {
		t.Error("an error without an answer of the API server is taken for a rejection")
	}
}

// Each status update enqueues the object, and the API server may word the same rejection differently each time.
func TestReconcile_RejectionIsWordedDifferently_StatusIsWrittenOnce(t *testing.T) {
	w := newWorld(t, object(2))
	tries, written := 0, 0
	w.kube.PrependReactor("patch", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "it", fmt.Errorf("exceeded quota, request %d", tries))
	})
	w.samples.PrependReactor("update", "simpledeployments", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		written++
		return false, nil, w.objects.Update(action.(clientgotesting.UpdateAction).GetObject())
	})
	const reconciliations = 3
	for range reconciliations {
		if err := w.reconcile(t.Context()); !failures.IsRetry(err) {
			t.Errorf("the reconciliation ends with %v, want that it is retried", err)
		}
	}
	if tries != reconciliations || written != 1 {
		t.Errorf("%d tries and %d status updates, want %d and 1", tries, written, reconciliations)
	}
}
