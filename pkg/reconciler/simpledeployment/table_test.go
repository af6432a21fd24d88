/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"testing"
	"time"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// runTable runs a table on object a.
func runTable(t *testing.T, table reconcilertesting.TableTest) {
	t.Helper()
	reconcilertest.Table(t, table, ns+"/a", func(t testing.TB, row *reconcilertesting.TableRow) (*world, reconcilertest.World) {
		t.Helper()
		w := newWorld(t, row.Objects...)
		return w, reconcilertest.World{Reconciler: w.reconciler, Recorder: w.recorder, Clients: []reconcilertest.Fake{w.samples, w.kube}}
	})
}

// withError expects an error that contains this and is retried with back-off, and whether the next reconciliation reads the Pods from the
// API server.
func withError(part string, doubt bool) []reconcilertest.PostCondition {
	return reconcilertest.Ends(func(w *world, err error) string {
		if missing := reconcilertest.Retried(err, part); missing != "" {
			return missing
		}
		if w.inner.expectations.Doubtful(object(0)) != doubt {
			return "the next reconciliation to read the Pods from the API server only if it has to"
		}
		return ""
	})
}

// withRecheck expects that the object is reconciled again after this time.
func withRecheck(after time.Duration) []reconcilertest.PostCondition {
	return reconcilertest.Ends(func(_ *world, err error) string { return reconcilertest.Rechecked(err, after) })
}
