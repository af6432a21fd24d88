/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

func TestReconcile_ObjectOfAnotherClass_WritesNothing(t *testing.T) {
	dead := func(as *v1.AddressableService) { beingDeleted(as); publishedAs("al")(as) }
	runTable(t, reconcilertesting.TableTest{
		{Name: "another class", Objects: []runtime.Object{object("a", withClass("other"), withoutFinalizer), service(ns, "target")}},
		{Name: "an empty class", Objects: []runtime.Object{object("a", withClass(""), withoutFinalizer), service(ns, "target")}},
		{Name: "no class", Objects: []runtime.Object{object("a", withoutClass, withoutFinalizer), service(ns, "target")}},
		{Name: "another class, being deleted", Objects: []runtime.Object{object("a", withClass("other"), dead), alias("al", "a", host, stored)}},
		{Name: "it does not exist", Objects: []runtime.Object{service(ns, "target")}},
		{Name: "an invalid key", Key: "a/b/c", Objects: []runtime.Object{object("a")}},
	})
}

func TestReconcile_NoFinalizer_SetsIt(t *testing.T) {
	const patch = `{"metadata":{"finalizers":["samples.knative.dev/addressableservice"],"resourceVersion":"1"}}`
	patches := []clientgotesting.PatchActionImpl{{Name: "a", Patch: []byte(patch)}}

	runTable(t, reconcilertesting.TableTest{{
		Name:              "before anything else",
		Objects:           []runtime.Object{object("a", withoutFinalizer), service(ns, "target")},
		WantPatches:       patches,
		WantStatusUpdates: reconcilertest.Becomes(object("a", withoutFinalizer, status(at("http://"+host), notRequested))),
		WantEvents:        []string{reconcilertest.Normal("FinalizerUpdate", `Updated "a" finalizers`)},
	}, {
		Name:           "and without it nothing is done",
		Objects:        []runtime.Object{object("a", withoutFinalizer, publishedAs("al")), service(ns, "target"), namespace(directory)},
		WithReactors:   []clientgotesting.ReactionFunc{reconcilertest.Failing("patch", "addressableservices", reconcilertest.ErrInduced)},
		WantPatches:    patches,
		WantErr:        true,
		PostConditions: withError("failed to set finalizers", "induced"),
		WantEvents:     []string{reconcilertest.Warning("FinalizerUpdateFailed", `Failed to update finalizers for "a": induced`)},
	}})
}

func TestReconcile_StatusUpdateFails_ReturnsError(t *testing.T) {
	ready := object("a", status(at("http://"+host), notRequested))
	conflict := apierrors.NewConflict(v1.Resource("addressableservices"), "a", errors.New("it has changed"))
	once := func() clientgotesting.ReactionFunc {
		failed := false
		return func(action clientgotesting.Action) (bool, runtime.Object, error) {
			if failed || !action.Matches("update", "addressableservices/status") {
				return false, nil, nil
			}
			failed = true
			return true, nil, conflict
		}
	}
	runTable(t, reconcilertesting.TableTest{{
		Name:              "the reconciliation is repeated",
		Objects:           []runtime.Object{object("a"), service(ns, "target")},
		WithReactors:      []clientgotesting.ReactionFunc{reconcilertest.Failing("update", "addressableservices/status", reconcilertest.ErrInduced)},
		WantStatusUpdates: reconcilertest.Becomes(ready),
		WantErr:           true,
		PostConditions:    withError("induced"),
		WantEvents:        []string{reconcilertest.Warning("UpdateFailed", `Failed to update status for "a": induced`)},
	}, {
		Name:              "because of a conflict: read and written again",
		Objects:           []runtime.Object{object("a"), service(ns, "target")},
		WithReactors:      []clientgotesting.ReactionFunc{once()},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{Object: ready}, {Object: ready}},
	}})
}
