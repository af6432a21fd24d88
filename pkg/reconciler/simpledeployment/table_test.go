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

// withError expects an error that contains this and is repeated.
func withError(part string) []reconcilertest.PostCondition {
	return reconcilertest.Ends(func(_ *world, err error) string { return reconcilertest.Retried(err, part) })
}

// withRecheck expects that the object is reconciled again after this time.
func withRecheck(after time.Duration) []reconcilertest.PostCondition {
	return reconcilertest.Ends(func(_ *world, err error) string { return reconcilertest.Rechecked(err, after) })
}
