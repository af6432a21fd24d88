/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"
	"time"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// configData is a key of TableRow.OtherTestData, for a *config.Addressable instead of testConfig.
const configData = "config"

// runTable runs a table. Rows without a key reconcile object a.
func runTable(t *testing.T, table reconcilertesting.TableTest) {
	t.Helper()
	for i := range table {
		// Aliases are in another namespace than their objects.
		table[i].SkipNamespaceValidation = true
	}
	reconcilertest.Table(t, table, ns+"/a", func(t testing.TB, row *reconcilertesting.TableRow) (*world, reconcilertest.World) {
		t.Helper()
		cfg, ok := row.OtherTestData[configData].(*config.Addressable)
		if !ok {
			cfg = testConfig()
		}
		w := newWorld(t, cfg, row.Objects...)
		return w, reconcilertest.World{
			Reconciler: w.reconciler, Recorder: w.recorder, Clients: []reconcilertest.Fake{w.samples, w.kube}, Others: []reconcilertest.Fake{w.dynamic},
		}
	})
}

// withError expects an error that contains all of this and is retried with back-off.
func withError(parts ...string) []reconcilertest.PostCondition {
	return reconcilertest.Ends(func(_ *world, err error) string { return reconcilertest.Retried(err, parts...) })
}

// withRecheck expects that the object is reconciled again after this time.
func withRecheck(after time.Duration) []reconcilertest.PostCondition {
	return reconcilertest.Ends(func(_ *world, err error) string { return reconcilertest.Rechecked(err, after) })
}
