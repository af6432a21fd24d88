/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

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

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// remembering keeps the error of the reconciliation, of which a table only says whether
// there is one.
type remembering struct {
	controller.Reconciler

	err   error
	world *world
}

func (r *remembering) Reconcile(ctx context.Context, key string) error {
	r.err = r.Reconciler.Reconcile(ctx, key)
	return r.err
}

// Keys of TableRow.OtherTestData.
const (
	configData  = "config"  // *config.Addressable instead of testConfig
	prepareData = "prepare" // func(*world), called before the reconciliation
)

// factory makes the reconciler of a row. Its reactors see every client.
func factory(t *testing.T, row *reconcilertesting.TableRow) (controller.Reconciler, reconcilertesting.ActionRecorderList, reconcilertesting.EventList) {
	t.Helper()
	cfg, ok := row.OtherTestData[configData].(*config.Addressable)
	if !ok {
		cfg = testConfig()
	}
	w := newWorld(t, cfg, row.Objects...)
	if prepare, ok := row.OtherTestData[prepareData].(func(*world)); ok {
		prepare(w)
	}
	for _, reaction := range slices.Backward(row.WithReactors) {
		w.samples.PrependReactor("*", "*", reaction)
		w.kube.PrependReactor("*", "*", reaction)
		w.dynamic.PrependReactor("*", "*", reaction)
	}
	row.Ctx = logtesting.TestContextWithLogger(t)
	return &remembering{Reconciler: w.reconciler, world: w},
		reconcilertesting.ActionRecorderList{w.samples, w.kube},
		reconcilertesting.EventList{Recorder: w.recorder}
}

// runTable runs a table. Aliases are in another namespace than their objects.
func runTable(t *testing.T, table reconcilertesting.TableTest) {
	t.Helper()
	for i := range table {
		table[i].SkipNamespaceValidation = true
		if table[i].Key == "" {
			table[i].Key = ns + "/a"
		}
	}
	table.Test(t, factory)
}

// becomes is the one status write that a reconciliation makes.
func becomes(as *v1.AddressableService) []clientgotesting.UpdateActionImpl {
	return []clientgotesting.UpdateActionImpl{{Object: as}}
}

// ends checks the error that a reconciliation ends with.
func ends(check func(error) string) []func(*testing.T, *reconcilertesting.TableRow) {
	return []func(*testing.T, *reconcilertesting.TableRow){func(t *testing.T, row *reconcilertesting.TableRow) {
		t.Helper()
		reconciliation, ok := row.Reconciler.(*remembering)
		if !ok {
			t.Fatalf("the reconciler is a %T", row.Reconciler)
		}
		if wrong := check(reconciliation.err); wrong != "" {
			t.Errorf("the reconciliation ends with %v, want %s", reconciliation.err, wrong)
		}
	}}
}

// withError: the reconciliation fails with an error that says all of this and is retried
// with back-off.
func withError(parts ...string) []func(*testing.T, *reconcilertesting.TableRow) {
	return ends(func(err error) string {
		if requeue, _ := controller.IsRequeueKey(err); requeue && !failures.IsRetry(err) || controller.IsPermanentError(err) {
			return "an error that is retried with back-off"
		}
		for _, part := range parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				return "an error with " + part
			}
		}
		return ""
	})
}

// withRecheck: the object is reconciled again after this time.
func withRecheck(want time.Duration) []func(*testing.T, *reconcilertesting.TableRow) {
	return ends(func(err error) string {
		if requeue, after := controller.IsRequeueKey(err); !requeue || after != want {
			return "a requeue after " + want.String()
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
