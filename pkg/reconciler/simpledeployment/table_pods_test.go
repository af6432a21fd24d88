/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

type (
	objects = []runtime.Object
	deletes = []clientgotesting.DeleteActionImpl
)

var (
	atRest = status(2, 2, 2, available, upToDate)
	two    = image("two")
)

func rolling(current, replicas, old int) mark {
	return progressing(v1alpha1.ReasonRollingOut,
		fmt.Sprintf("%d of %d Pods are updated, %d outdated remain", current, replicas, old))
}

func TestReconcile_Pods_AreCreatedAndDeleted(t *testing.T) {
	runTable(t, reconcilertesting.TableTest{{
		Name:              "none yet: all are made, and no event, for it is well from the start",
		Objects:           objects{object(2)},
		WantCreates:       objects{created(object(2), 0), created(object(2), 1)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(2, 2, 0, waiting(0, 2), progressing(v1alpha1.ReasonWaitingForPods, "0 of 2 Pods are ready")))),
	}, {
		Name:              "all ready",
		Objects:           objects{object(2, status(2, 2, 0, waiting(0, 2))), podAt(0, podReady), podAt(1, podReady)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, atRest)),
	}, {
		Name:    "steady state: nothing is written",
		Objects: objects{object(2, atRest), podAt(0, podReady), podAt(1, podReady)},
	}, {
		Name:              "none desired",
		Objects:           objects{object(0)},
		WantStatusUpdates: reconcilertest.Becomes(object(0, status(0, 0, 0, available, upToDate))),
	}, {
		Name:    "the gone object's Pods are the garbage collector's",
		Objects: objects{podAt(0, podReady)},
	}, {
		Name: "an object that is being deleted makes none",
		Objects: objects{object(2, func(sd *v1alpha1.SimpleDeployment) {
			at := podAt(0, podTerminating).DeletionTimestamp
			sd.DeletionTimestamp, sd.Finalizers = at, []string{"foregroundDeletion"}
		})},
	}, {
		Name:              "a Pod was deleted: its place is filled under another name, for it may hang",
		Objects:           objects{object(2, atRest), podAt(0, podReady, podTerminating), podAt(1, podReady)},
		WantCreates:       objects{created(object(2), 2)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(2, 2, 1, waiting(1, 2), progressing(v1alpha1.ReasonWaitingForPods, "1 of 2 Pods are ready")))),
		WantErr:           true,
		PostConditions:    withRecheck(holdEnded),
	}, {
		Name:              "a Pod was evicted: it is replaced, and stays for a while",
		Objects:           objects{object(2, atRest), podAt(0, podPhase(corev1.PodFailed, time.Second)), podAt(1, podReady)},
		WantCreates:       objects{created(object(2), 2)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(2, 2, 1, waiting(1, 2), progressing(v1alpha1.ReasonWaitingForPods, "1 of 2 Pods are ready")))),
		WantErr:           true,
		PostConditions:    withRecheck(holdEnded - time.Second),
	}, {
		Name:        "a Pod ended long ago: it goes",
		Objects:     objects{object(1, status(1, 1, 1, available, upToDate)), podAt(0, podPhase(corev1.PodSucceeded, time.Hour)), podAt(1, podReady)},
		WantDeletes: deletes{deleted(0)},
	}, {
		Name:              "another image: one more than desired, and the old ones stay",
		Objects:           objects{object(2, two, atRest), podAt(0, podReady), podAt(1, podReady)},
		WantCreates:       objects{created(object(2, two), 2)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, two, status(3, 1, 2, available, rolling(1, 2, 2)))),
	}, {
		Name:              "another variable: the same",
		Objects:           objects{object(1, variable("A", "1"), status(1, 1, 1, available, upToDate)), podAt(0, podReady)},
		WantCreates:       objects{created(object(1, variable("A", "1")), 1)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, variable("A", "1"), status(2, 1, 1, available, rolling(1, 1, 1)))),
	}, {
		Name:              "the new one is ready: an old one is deleted, and the next is created once that no longer exists",
		Objects:           objects{object(2, two, status(3, 1, 2)), podAt(0, podReady), podAt(1, podReady), podAt(2, podReady, podOf(two))},
		WantDeletes:       deletes{deleted(0)},
		WantStatusUpdates: reconcilertest.Becomes(object(2, two, status(2, 1, 2, available, rolling(1, 2, 1)))),
	}, {
		Name:              "fewer desired: the youngest are deleted",
		Objects:           objects{object(1, atRest), podAt(0, podReady), podAt(1, podReady)},
		WantDeletes:       deletes{deleted(1)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 1, available, upToDate))),
	}, {
		Name:              "fewer desired, and those that are ready are needed",
		Objects:           objects{object(1, atRest), podAt(0), podAt(1, podReady)},
		WantDeletes:       deletes{deleted(0)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 1, available, upToDate))),
	}, {
		Name: "a webhook has put a container before ours and rewritten the image: no reason to replace it",
		Objects: objects{object(1, status(1, 1, 1, available, upToDate)), podAt(0, podReady, func(pod *corev1.Pod) {
			pod.Spec.Containers = []corev1.Container{{Name: "sidecar", Image: "proxy"}, {Name: containerName, Image: "mirror/one"}}
		})},
	}})
}

func TestReconcile_ForeignPods_AreIgnored(t *testing.T) {
	made := objects{created(object(1), 0), created(object(1), 1)}
	waits := reconcilertest.Becomes(object(1, status(1, 1, 0, waiting(0, 1), progressing(v1alpha1.ReasonWaitingForPods, "0 of 1 Pods are ready"))))
	runTable(t, reconcilertesting.TableTest{{
		Name:              "labels without a controller reference: it is not ours, and its name is left to it",
		Objects:           objects{object(1), podAt(0, podReady, withoutOwner)},
		WantCreates:       made,
		WantStatusUpdates: waits,
	}, {
		Name:              "a deleted object of the same name controlled it",
		Objects:           objects{object(1), podAt(0, podReady, ownedBy("samples.knative.dev/v1alpha1", "SimpleDeployment", "uid-before"))},
		WantCreates:       made,
		WantStatusUpdates: waits,
	}, {
		Name: "the object is an owner of it, but not its controller",
		Objects: objects{object(1), podAt(0, podReady, func(pod *corev1.Pod) {
			pod.OwnerReferences[0].Controller = nil
		})},
		WantCreates:       made,
		WantStatusUpdates: waits,
	}, {
		Name: "another owner is listed before its controller: it is ours",
		Objects: objects{object(1), podAt(0, podReady, func(pod *corev1.Pod) {
			pod.OwnerReferences = append([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c"}}, pod.OwnerReferences...)
		})},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 1, available, upToDate))),
	}, {
		Name:              "another version of our kind controls it: it is ours",
		Objects:           objects{object(1), podAt(0, podReady, ownedBy("samples.knative.dev/v9", "SimpleDeployment", owner))},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 1, available, upToDate))),
	}, {
		Name:              "a foreign Pod has the name, and no label by which the cache would have it: the next name is given",
		Objects:           objects{object(1), podAt(0, withoutOwner, unlabeled)},
		WantCreates:       objects{created(object(1), 0), created(object(1), 1)},
		WantStatusUpdates: waits,
	}})
}

func TestReconcile_PodsMissingFromTheCache_AreAdopted(t *testing.T) {
	found := reconcilertest.Becomes(object(1, status(1, 1, 1, available, upToDate)))
	waits := reconcilertest.Becomes(object(1, status(1, 1, 0, waiting(0, 1), progressing(v1alpha1.ReasonWaitingForPods, "0 of 1 Pods are ready"))))
	late := func(slot int, mods ...func(*corev1.Pod)) map[string]any {
		return reconcilertest.Prepared(func(w *world) { w.server.put(podAt(slot, mods...)) })
	}
	runTable(t, reconcilertesting.TableTest{{
		Name:              "made by another process, or by a request whose answer was lost: it is ours, and not made again",
		Objects:           objects{object(1)},
		OtherTestData:     late(0, podReady),
		WantCreates:       objects{created(object(1), 0)},
		WantStatusUpdates: found,
	}, {
		Name:              "made of an earlier spec: its image is not touched",
		Objects:           objects{object(1, two)},
		OtherTestData:     late(0, podReady),
		WantCreates:       objects{created(object(1, two), 0)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, two, status(1, 0, 1, available, rolling(0, 1, 1)))),
	}, {
		Name:              "it has lost its label: it is released, keeps its name, and another is created",
		Objects:           objects{object(1)},
		OtherTestData:     late(0, podReady, unlabeled),
		WantCreates:       objects{created(object(1), 0), created(object(1), 1)},
		WantStatusUpdates: waits,
	}, {
		Name:              "its label was changed: it is released",
		Objects:           objects{object(1), podAt(0, podReady, mislabeled)},
		WantCreates:       objects{created(object(1), 0), created(object(1), 1)},
		WantStatusUpdates: waits,
	}})
}

func TestReconcile_ManyNamesAreTaken_ReportsIt(t *testing.T) {
	for taken, wantErr := range map[int]bool{mostTaken - 1: false, mostTaken: true} {
		objs := objects{object(1)}
		for slot := range taken {
			objs = append(objs, podAt(slot, withoutOwner, unlabeled))
		}
		w := newWorld(t, objs...)
		err := w.reconcile(t.Context())
		_, created := w.server.pods[podName(taken)]
		if missing := reconcilertest.Retried(err, "other Pods have the first"); wantErr && missing != "" || wantErr == created || !wantErr && err != nil {
			t.Errorf("with %d names taken the reconciliation ends with %v, and the Pod is created: %t", taken, err, created)
		}
	}
}
