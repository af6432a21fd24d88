/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

func TestReconcile_ReadFails_ReturnsError(t *testing.T) {
	const message = "listing the Pods: induced"
	doubtful := reconcilertest.Prepared(func(w *world) { w.inner.expectations.Doubt(object(0)) })
	runTable(t, reconcilertesting.TableTest{{
		Name:              "in doubt: nothing is done on a cache that may be wrong",
		Objects:           objects{object(2), podAt(0, podReady)},
		OtherTestData:     doubtful,
		WithReactors:      reactions(reconcilertest.Failing("list", "pods", reconcilertest.ErrInduced)),
		WantStatusUpdates: reconcilertest.Becomes(object(2, status(1, 1, 1, waiting(1, 2), stuck(v1alpha1.ReasonReadFailed, message)))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonReadFailed, message)},
		WantErr:           true,
		PostConditions:    withError(message, true),
	}, {
		Name:              "before the first write of a process: nothing is deleted",
		Objects:           objects{object(0), podAt(0, podReady)},
		WithReactors:      reactions(reconcilertest.Failing("list", "pods", reconcilertest.ErrInduced)),
		WantStatusUpdates: reconcilertest.Becomes(object(0, status(1, 1, 1, available, stuck(v1alpha1.ReasonReadFailed, message)))),
		WantEvents:        []string{reconcilertest.Warning(v1alpha1.ReasonReadFailed, message)},
		WantErr:           true,
		PostConditions:    withError(message, true),
	}, {
		Name:          "in doubt, and the Pods are read: one that the cache lacks counts",
		Objects:       objects{object(1, status(1, 1, 1, available, upToDate))},
		OtherTestData: reconcilertest.Prepared(func(w *world) { w.inner.expectations.Doubt(object(0)); w.server.put(podAt(0, podReady)) }),
	}, {
		Name:              "in doubt, and a Pod is not among those read because its label was changed: it does not count, and is not awaited",
		Objects:           objects{object(1), podAt(0, podReady, mislabeled)},
		OtherTestData:     doubtful,
		WantPatches:       patches{applied(object(1), 0), applied(object(1), 1)},
		WantStatusUpdates: reconcilertest.Becomes(object(1, status(1, 1, 0, waiting(0, 1), progressing(v1alpha1.ReasonWaitingForPods, "0 of 1 Pods are ready")))),
	}, {
		Name:    "in doubt, and a Pod of another namespace has a reference with the UID: it is not awaited as gone",
		Objects: objects{object(1, status(1, 1, 1, available, upToDate)), podAt(0, podReady)},
		OtherTestData: reconcilertest.Prepared(func(w *world) {
			w.inner.expectations.Doubt(object(0))
			if err := w.pods.Add(podAt(1, podReady, func(pod *corev1.Pod) { pod.Namespace = "elsewhere" })); err != nil {
				panic(err)
			}
		}),
		PostConditions: reconcilertest.Ends(func(w *world, _ error) string {
			if w.inner.expectations.Behind(object(1)) {
				return "no reconciliation will begin as long as that Pod exists"
			}
			return ""
		}),
	}, {
		Name:          "the first write of a process: another one has deleted already, as the cache does not know",
		Objects:       objects{object(1, status(1, 1, 1, available, upToDate)), podAt(0, podReady), podAt(1, podReady)},
		OtherTestData: reconcilertest.Prepared(func(w *world) { w.server.remove(podName(0)) }),
	}})
}
