/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconcilertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
)

// Fake is a fake client.
type Fake interface {
	reconcilertesting.ActionRecorder
	PrependReactor(verb, resource string, reaction clientgotesting.ReactionFunc)
}

// World holds the objects that one reconciliation reads and writes.
type World struct {
	// Reconciler is the generated one.
	Reconciler controller.Reconciler
	// Clients are those whose requests a row lists in full. Others only get the row's reactors.
	Clients, Others []Fake
	Recorder        *record.FakeRecorder
}

// Key of TableRow.OtherTestData.
const prepareData = "prepare"

// Prepared is the OtherTestData of a row whose world is changed before the reconciliation.
func Prepared[W any](prepare func(W)) map[string]any { return map[string]any{prepareData: prepare} }

// Table runs the rows of a table, each in a separate world. Rows without a key reconcile the object key.
func Table[W any](t *testing.T, table reconcilertesting.TableTest, key string, newWorld func(testing.TB, *reconcilertesting.TableRow) (W, World)) {
	t.Helper()
	for i := range table {
		if table[i].Key == "" {
			table[i].Key = key
		}
	}
	table.Test(t, func(t *testing.T, row *reconcilertesting.TableRow,
	) (controller.Reconciler, reconcilertesting.ActionRecorderList, reconcilertesting.EventList) {
		t.Helper()
		own, world := newWorld(t, row)
		if prepare, ok := row.OtherTestData[prepareData].(func(W)); ok {
			prepare(own)
		}
		var recorders reconcilertesting.ActionRecorderList
		for _, client := range world.Clients {
			recorders = append(recorders, client)
		}
		for _, client := range append(world.Clients, world.Others...) {
			for _, reaction := range slices.Backward(row.WithReactors) {
				client.PrependReactor("*", "*", reaction)
			}
		}
		row.Ctx = logtesting.TestContextWithLogger(t)
		return &remembering[W]{Reconciler: world.Reconciler, world: own}, recorders, reconcilertesting.EventList{Recorder: world.Recorder}
	})
}

// remembering keeps the error of the reconciliation, of which a table only checks whether there is one.
type remembering[W any] struct {
	controller.Reconciler

	err   error
	world W
}

// Reconcile implements controller.Reconciler.
func (r *remembering[W]) Reconcile(ctx context.Context, key string) error {
	r.err = r.Reconciler.Reconcile(ctx, key)
	return r.err
}

// PostCondition is a check of a row after its reconciliation, for TableRow.PostConditions.
type PostCondition = func(*testing.T, *reconcilertesting.TableRow)

// Ends checks the world after the reconciliation, and its error. The check returns the expectation that is not met, or "".
func Ends[W any](check func(W, error) string) []PostCondition {
	return []PostCondition{func(t *testing.T, row *reconcilertesting.TableRow) {
		t.Helper()
		reconciliation, ok := row.Reconciler.(*remembering[W])
		if !ok {
			t.Fatalf("the reconciler is a %T", row.Reconciler)
		}
		if missing := check(reconciliation.world, reconciliation.err); missing != "" {
			t.Errorf("the reconciliation returns %v, want %s", reconciliation.err, missing)
		}
	}}
}

// Retried checks that an error is retried with back-off, and contains all parts. It returns the expectation that is not met, or "".
func Retried(err error, parts ...string) string {
	_, isWrapped := err.(interface{ Unwrap() []error }) // a bare requeue is no failure
	if requeue, _ := controller.IsRequeueKey(err); requeue && !isWrapped || controller.IsPermanentError(err) {
		return "an error that is retried with back-off"
	}
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			return "an error with " + part
		}
	}
	return ""
}

// Rechecked checks that an object is reconciled again after a delay. It returns the expectation that is not met, or "".
func Rechecked(err error, after time.Duration) string {
	if requeue, got := controller.IsRequeueKey(err); !requeue || got != after {
		return "a requeue after " + after.String()
	}
	return ""
}

// Becomes is the one status update of a reconciliation, for TableRow.WantStatusUpdates.
func Becomes(object runtime.Object) []clientgotesting.UpdateActionImpl {
	return []clientgotesting.UpdateActionImpl{{Object: object}}
}
