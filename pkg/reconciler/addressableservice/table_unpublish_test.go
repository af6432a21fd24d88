/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

const finalizerGone = `{"metadata":{"finalizers":[],"resourceVersion":"1"}}`

var (
	takesFinalizer = []clientgotesting.PatchActionImpl{{Name: "a", Patch: []byte(finalizerGone)}}
	tellsFinalizer = []string{reconcilertest.Normal("FinalizerUpdate", `Updated "a" finalizers`)}
)

func TestFinalize_Alias_IsDeleted(t *testing.T) {
	dead := func(mods ...mod) *v1.AddressableService {
		return object("a", append([]mod{asAl, isPublished, beingDeleted}, mods...)...)
	}
	stuck := func(message string) []clientgotesting.UpdateActionImpl {
		return reconcilertest.Becomes(dead(func(as *v1.AddressableService) { as.Status.MarkNotPublished(v1.ReasonUnpublishFailed, message) }))
	}
	onlyOnServer := reconcilertest.Prepared(func(w *world) {
		if err := w.kube.Tracker().Add(alias("al", "a", host, stored)); err != nil {
			panic(err)
		}
	})
	const deleteFails, listFails = "deleting alias dir/al: induced", "listing the aliases in namespace dir: induced"

	runTable(t, reconcilertesting.TableTest{{
		Name:        "nothing was published",
		Objects:     []runtime.Object{dead(), dir},
		WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:        "the alias goes before the object",
		Objects:     []runtime.Object{dead(), dir, alias("al", "a", host, stored)},
		WantDeletes: deletes("al"), WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:    "an alias that the cache does not have yet goes too",
		Objects: []runtime.Object{dead(), dir}, OtherTestData: onlyOnServer,
		WantDeletes: deletes("al"), WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:          "an alias that is left in a former directory goes too",
		Objects:       []runtime.Object{dead(), dir, namespace("moved"), alias("al", "a", host, stored)},
		OtherTestData: map[string]any{configData: testConfig(func(c *config.Addressable) { c.DirectoryNamespace = "moved" })},
		WantDeletes:   deletes("al"), WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:        "the alias of another object stays",
		Objects:     []runtime.Object{dead(), dir, alias("al", "b", host, stored)},
		WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:        "a Service of that name that others made stays",
		Objects:     []runtime.Object{dead(), dir, service(directory, "al")},
		WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:        "the directory is missing",
		Objects:     []runtime.Object{dead()},
		WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:        "the directory is being deleted",
		Objects:     []runtime.Object{dead(), namespace(directory, terminating), alias("al", "a", host, stored)},
		WantDeletes: deletes("al"), WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:        "the target is deleted as well",
		Objects:     []runtime.Object{dead(status(unresolved(v1.ReasonTargetNotFound, "gone"), noAddress)), dir},
		WantPatches: takesFinalizer, WantEvents: tellsFinalizer,
	}, {
		Name:         "removing the alias fails: the finalizer stays",
		Objects:      []runtime.Object{dead(), dir, alias("al", "a", host, stored)},
		WithReactors: []clientgotesting.ReactionFunc{reconcilertest.Failing("delete", "services", reconcilertest.ErrInduced)},
		WantDeletes:  deletes("al"), WantStatusUpdates: stuck(deleteFails),
		WantErr: true, PostConditions: withError(deleteFails), WantEvents: []string{reconcilertest.Warning(v1.ReasonUnpublishFailed, deleteFails)},
	}, {
		Name:              "looking for aliases fails: the finalizer stays",
		Objects:           []runtime.Object{dead(), dir},
		WithReactors:      []clientgotesting.ReactionFunc{reconcilertest.Failing("list", "services", reconcilertest.ErrInduced)},
		WantStatusUpdates: stuck(listFails),
		WantErr:           true, PostConditions: withError(listFails), WantEvents: []string{reconcilertest.Warning(v1.ReasonUnpublishFailed, listFails)},
	}, {
		Name:    "removing an alias that only the server has fails: the finalizer stays",
		Objects: []runtime.Object{dead(), dir}, OtherTestData: onlyOnServer,
		WithReactors: []clientgotesting.ReactionFunc{reconcilertest.Failing("delete", "services", reconcilertest.ErrInduced)},
		WantDeletes:  deletes("al"), WantStatusUpdates: stuck(deleteFails),
		WantErr: true, PostConditions: withError(deleteFails), WantEvents: []string{reconcilertest.Warning(v1.ReasonUnpublishFailed, deleteFails)},
	}, {
		Name:         "taking the finalizer away fails",
		Objects:      []runtime.Object{dead(), dir},
		WithReactors: []clientgotesting.ReactionFunc{reconcilertest.Failing("patch", "addressableservices", reconcilertest.ErrInduced)},
		WantPatches:  takesFinalizer,
		WantErr:      true, PostConditions: withError("failed to clear finalizers", "induced"),
		WantEvents: []string{reconcilertest.Warning("FinalizerUpdateFailed", `Failed to update finalizers for "a": induced`)},
	}})
}

// The text of an error may differ each time, and each status update enqueues the object.
func TestFinalize_MessagesVary_StatusIsWrittenOnce(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", asAl, isPublished, beingDeleted), dir, alias("al", "a", host, stored))
	tries := 0
	w.kube.PrependReactor("delete", "services", func(clientgotesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, fmt.Errorf("read tcp 10.0.0.1:%d: connection reset by peer", 40000+tries)
	})
	for range 5 {
		if missing := reconcilertest.Retried(w.reconciler.Reconcile(t.Context(), ns+"/a"), "connection reset"); missing != "" {
			t.Fatalf("the result is not %s", missing)
		}
		w.catchUp(t)
	}
	updates := 0
	for _, action := range w.samples.Actions() {
		if action.Matches("update", "addressableservices/status") {
			updates++
		}
	}
	if tries != 5 || updates != 1 {
		t.Errorf("%d tries caused %d status updates, want 5 and 1", tries, updates)
	}
}

func TestUnpublish_Alias_IsDeleted(t *testing.T) {
	services := corev1.Resource("services")
	moved := testConfig(func(c *config.Addressable) { c.DirectoryNamespace = "moved" })
	before := func(mods ...func(*corev1.Service)) *corev1.Service {
		return alias("al", "a", host, append(mods, stored)...)
	}
	conflict := "deleting alias dir/al: " + apierrors.NewConflict(services, "al", errors.New("changed")).Error()
	forbidden := "deleting alias dir/al: " + apierrors.NewForbidden(services, "al", nil).Error()

	runTable(t, reconcilertesting.TableTest{{
		Name:              "that is already deleted is a success",
		Objects:           []runtime.Object{object("a", isPublished), theTarget, dir, before()},
		WithReactors:      []clientgotesting.ReactionFunc{reconcilertest.Failing("delete", "services", apierrors.NewNotFound(services, "al"))},
		WantDeletes:       deletes("al"),
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(resolved, notRequested))),
	}, {
		Name:              "in the directory leaves it recorded, so that the next alias needs no status update before it",
		Objects:           []runtime.Object{object("a", recorded(directory), isPublished), theTarget, dir, before()},
		WantDeletes:       deletes("al"),
		WantStatusUpdates: reconcilertest.Becomes(object("a", recorded(directory), status(resolved, notRequested))),
	}, {
		Name:         "that has changed since is retried, without a condition or an event",
		Objects:      []runtime.Object{object("a", isPublished), theTarget, dir, before()},
		WithReactors: []clientgotesting.ReactionFunc{reconcilertest.Failing("delete", "services", apierrors.NewConflict(services, "al", errors.New("changed")))},
		WantDeletes:  deletes("al"),
		WantErr:      true, PostConditions: withError(conflict),
	}, {
		Name:              "in the directory without permission to delete is a failure",
		Objects:           []runtime.Object{object("a", isPublished), theTarget, dir, before()},
		WithReactors:      []clientgotesting.ReactionFunc{reconcilertest.Failing("delete", "services", apierrors.NewForbidden(services, "al", nil))},
		WantDeletes:       deletes("al"),
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(resolved, unpublished(v1.ReasonPublishFailed, forbidden)))),
		WantErr:           true, PostConditions: withError(forbidden),
		WantEvents: []string{reconcilertest.Warning(v1.ReasonPublishFailed, forbidden)},
	}, {
		Name:              "in a former directory without permission to delete is a failure, and the directory stays recorded",
		Objects:           []runtime.Object{object("a", recorded(directory), isPublished), theTarget, dir, before()},
		OtherTestData:     map[string]any{configData: moved},
		WithReactors:      []clientgotesting.ReactionFunc{reconcilertest.Failing("delete", "services", apierrors.NewForbidden(services, "al", nil))},
		WantDeletes:       deletes("al"),
		WantStatusUpdates: reconcilertest.Becomes(object("a", recorded(directory), status(resolved, unpublished(v1.ReasonPublishFailed, forbidden)))),
		WantErr:           true, PostConditions: withError(forbidden),
		WantEvents: []string{reconcilertest.Warning(v1.ReasonPublishFailed, forbidden)},
	}, {
		Name:              "after the directory moved: the new one is recorded before anything is created",
		Objects:           []runtime.Object{object("a", asAl, isPublished), theTarget, dir, namespace("moved"), before()},
		OtherTestData:     map[string]any{configData: moved},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, recorded(directory, "moved"), status(resolved, published, unpublished(v1.ReasonPublishing, publishing)))),
	}, {
		Name:              "once the new directory is recorded: created there, deleted from the former one, which is forgotten",
		Objects:           []runtime.Object{object("a", asAl, recorded(directory, "moved"), isPublished), theTarget, dir, namespace("moved"), before()},
		OtherTestData:     map[string]any{configData: moved},
		WantDeletes:       deletes("al"),
		WantCreates:       []runtime.Object{alias("al", "a", host, func(s *corev1.Service) { s.Namespace = "moved" })},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, recorded("moved"), isPublished)),
	}})
}

// Without the preconditions a delete could hit an alias that has changed hands.
func TestUnpublish_Delete_HasPreconditions(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", isPublished), theTarget, dir, alias("al", "a", host, stored))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	for _, action := range w.kube.Actions() {
		remove, ok := action.(clientgotesting.DeleteActionImpl)
		if !ok {
			continue
		}
		p := remove.DeleteOptions.Preconditions
		if p == nil || p.UID == nil || *p.UID != types.UID("uid-of-al") || p.ResourceVersion == nil || *p.ResourceVersion != "7" {
			t.Errorf("the preconditions are %+v, want UID and resourceVersion of the alias", p)
		}
		return
	}
	t.Error("the alias was not deleted")
}

// The update carries the resourceVersion that was looked at, for the same reason.
func TestPublish_Update_HasTheResourceVersion(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", asAl, isPublished), theTarget, dir, alias("al", "a", "elsewhere.example.com", stored))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	for _, action := range w.kube.Actions() {
		if update, ok := action.(clientgotesting.UpdateAction); ok {
			if got := update.GetObject().(*corev1.Service).ResourceVersion; got != "7" {
				t.Errorf("the update has resourceVersion %q, want that of the alias", got)
			}
			return
		}
	}
	t.Error("the alias was not updated")
}
