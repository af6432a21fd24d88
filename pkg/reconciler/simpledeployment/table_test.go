/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// remembering keeps the error of the reconciliation, of which a table only says whether there is one.
type remembering struct {
	controller.Reconciler

	err   error
	world *world
}

func (r *remembering) Reconcile(ctx context.Context, key string) error {
	r.err = r.Reconciler.Reconcile(ctx, key)
	return r.err
}

// prepareData is a key of TableRow.OtherTestData: a func(*world), called before the reconciliation.
const prepareData = "prepare"

func prepared(prepare func(*world)) map[string]any { return map[string]any{prepareData: prepare} }

// factory makes the reconciler of a row. Its reactors see every client.
func factory(t *testing.T, row *reconcilertesting.TableRow) (controller.Reconciler, reconcilertesting.ActionRecorderList, reconcilertesting.EventList) {
	t.Helper()
	w := newWorld(t, row.Objects...)
	if prepare, ok := row.OtherTestData[prepareData].(func(*world)); ok {
		prepare(w)
	}
	for _, reaction := range slices.Backward(row.WithReactors) {
		w.samples.PrependReactor("*", "*", reaction)
		w.kube.PrependReactor("*", "*", reaction)
	}
	row.Ctx = logtesting.TestContextWithLogger(t)
	return &remembering{Reconciler: w.reconciler, world: w},
		reconcilertesting.ActionRecorderList{w.samples, w.kube},
		reconcilertesting.EventList{Recorder: w.recorder}
}

func runTable(t *testing.T, table reconcilertesting.TableTest) {
	t.Helper()
	for i := range table {
		table[i].Key = ns + "/a"
	}
	table.Test(t, factory)
}

// becomes is the one status write that a reconciliation makes.
func becomes(sd *v1alpha1.SimpleDeployment) []clientgotesting.UpdateActionImpl {
	return []clientgotesting.UpdateActionImpl{{Object: sd}}
}

// ends checks the error that a reconciliation ends with, and the world after it.
func ends(check func(*world, error) string) []func(*testing.T, *reconcilertesting.TableRow) {
	return []func(*testing.T, *reconcilertesting.TableRow){func(t *testing.T, row *reconcilertesting.TableRow) {
		t.Helper()
		reconciliation, ok := row.Reconciler.(*remembering)
		if !ok {
			t.Fatalf("the reconciler is a %T", row.Reconciler)
		}
		if wrong := check(reconciliation.world, reconciliation.err); wrong != "" {
			t.Errorf("the reconciliation ends with %v: %s", reconciliation.err, wrong)
		}
	}}
}

// withError: the reconciliation fails with an error that says this, is retried with back-off, and leaves doubt or none.
func withError(part string, doubt bool) []func(*testing.T, *reconcilertesting.TableRow) {
	return ends(func(w *world, err error) string {
		if requeue, _ := controller.IsRequeueKey(err); requeue && !failures.IsRetry(err) || err == nil || !strings.Contains(err.Error(), part) {
			return "want an error that is retried with back-off and says " + part
		}
		if w.inner.expectations.Doubtful(object(0)) != doubt {
			return "the next reconciliation reads the Pods from the API server without need, or does not although it has to"
		}
		return ""
	})
}

// withRecheck: the reconciliation is repeated after this time.
func withRecheck(want time.Duration) []func(*testing.T, *reconcilertesting.TableRow) {
	return ends(func(_ *world, err error) string {
		if requeue, after := controller.IsRequeueKey(err); !requeue || after != want {
			return "want another look after " + want.String()
		}
		return ""
	})
}

var errInduced = errors.New("induced")

// failing makes a request fail with an error.
func failing(verb, resource string, err error) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if !action.Matches(verb, resource) {
			return false, nil, nil
		}
		return true, nil, err
	}
}
