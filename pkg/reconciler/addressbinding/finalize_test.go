/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// blind is a world whose cache of subjects has nothing, and receives no events. The binding a is being deleted.
func blind(t *testing.T, more ...runtime.Object) *world {
	t.Helper()
	w := newWorld(t, append(more, object("a", well, beingDeleted), hello(url), everywhere)...)
	w.stale = true
	w.sync(t)
	return w
}

// again reconciles the binding, and returns the time after which it asks to be reconciled; 0 if it is deleted.
func (w *world) again(t *testing.T) time.Duration {
	t.Helper()
	_, after := controller.IsRequeueKey(w.reconciler.Reconcile(t.Context(), ns+"/a"))
	if deleted := len(w.binding(t, "a").Finalizers) == 0; deleted != (after == 0) {
		t.Fatalf("the finalizer was removed: %t; the next reconciliation is after %s", deleted, after)
	}
	return after
}

// add creates a subject that the cache does not get, with the variable: a webhook did not know of the deletion yet.
func (w *world) add(t *testing.T, name string) {
	t.Helper()
	if err := w.dynamic.Tracker().Create(deploymentsVersion, deployment(name, bound(url)), ns); err != nil {
		t.Fatal(err)
	}
}

// lists returns the options of the lists of one namespace since the last call. Those of informers are of all namespaces.
func (w *world) lists() []metav1.ListOptions {
	var found []metav1.ListOptions
	for _, action := range w.dynamic.Actions() {
		if list, ok := action.(clientgotesting.ListActionImpl); ok && list.GetNamespace() != "" {
			found = append(found, list.ListOptions)
		}
	}
	w.dynamic.ClearActions()
	return found
}

func TestFinalize_SubjectsThatTheCacheLacks_LoseTheVariable(t *testing.T) {
	w := blind(t, namespace())
	w.add(t, "before")
	if after := w.again(t); after != settling || len(w.lists()) != 1 {
		t.Errorf("the next reconciliation is after %s, want %s and one list before", after, settling)
	}
	w.has(t, "before", "", false)
	w.clock.Step(settling / 2)
	w.add(t, "concurrent")
	if after := w.again(t); after != settling/2 || len(w.lists()) > 0 {
		t.Errorf("the next reconciliation is after %s, want %s and no list before", after, settling/2)
	}
	w.clock.Step(settling / 2)
	if after := w.again(t); after != settling {
		t.Errorf("after something was found the next reconciliation is after %s, want %s", after, settling)
	}
	w.add(t, "late")
	for range 2 {
		w.clock.Step(settling)
		w.again(t)
	}
	for _, name := range []string{"before", "concurrent", "late"} {
		w.has(t, name, "", false)
	}
	if lists := len(w.lists()); lists != 3 || len(w.binding(t, "a").Finalizers) > 0 {
		t.Errorf("there were %d lists, want 3; the finalizers are %v", lists, w.binding(t, "a").Finalizers)
	}
}

func TestFinalize_NothingToRemove_CostsTwoLists(t *testing.T) {
	w := newWorld(t, object("a", well, beingDeleted), object("b", withVariable("PEER")), hello(url), namespace(), everywhere, deployment("d"))
	w.settle(t, "b")
	if lists := w.lists(); len(lists) > 0 {
		t.Errorf("a binding that is not being deleted costs the lists %v", lists)
	}
	if err := w.finalize(t, "a"); err != nil {
		t.Fatal(err)
	}
	if lists := len(w.lists()); lists != 2 || len(w.binding(t, "a").Finalizers) > 0 {
		t.Errorf("there were %d lists, want 2; the finalizers are %v", lists, w.binding(t, "a").Finalizers)
	}
}

// TestFinalize_NoNewSubjects_IsNotDelayed is about what cannot be created, or cannot be changed.
func TestFinalize_NoNewSubjects_IsNotDelayed(t *testing.T) {
	terminating := namespace(func(n *corev1.Namespace) { n.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })
	jobs := object("a", beingDeleted, withSubject("batch/v1", "Job", "j"), status(resolvedTo(url), records(jobKind)))
	for name, objs := range map[string][]runtime.Object{
		"namespace is being deleted": {terminating, object("a", well, beingDeleted), deployment("d", bound(url))},
		"immutable subjects":         {namespace(), jobs, subjectOf("batch/v1", "Job", "j", bound(url))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(objs, hello(url), everywhere)...)
			if err := w.reconcile(t, "a"); err != nil || len(w.lists()) > 0 || len(w.binding(t, "a").Finalizers) > 0 {
				t.Errorf("got error %v and the finalizers %v, want neither, and no list", err, w.binding(t, "a").Finalizers)
			}
		})
	}
}

func TestFinalize_ListFails_FinalizerStaysAndReasonIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		err             error
		reason, message string
	}{
		"forbidden": {
			apierrors.NewForbidden(deploymentsResource, "", errors.New("no")), v1.ReasonSubjectForbidden,
			`listing deployments.apps: deployments.apps is forbidden: no`,
		},
		"not found": {
			apierrors.NewNotFound(deploymentsResource, ""), v1.ReasonUnbindFailed, `listing deployments.apps: deployments.apps "" not found`,
		},
		"cut": {reconcilertest.ErrInduced, v1.ReasonUnbindFailed, "listing deployments.apps: " + reconcilertest.ErrInduced.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			w := blind(t, namespace())
			w.add(t, "late")
			w.again(t)
			failing := true
			w.dynamic.PrependReactor("list", "*", func(clientgotesting.Action) (bool, runtime.Object, error) { return failing, nil, test.err })
			w.clock.Step(settling)
			if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err == nil || len(w.binding(t, "a").Finalizers) == 0 {
				t.Errorf("got error %v and the finalizers %v", err, w.binding(t, "a").Finalizers)
			}
			w.check(t, "a", test.reason, test.message)
			failing = false
			for range 2 {
				w.clock.Step(settling)
				_ = w.reconciler.Reconcile(t.Context(), ns+"/a")
			}
			w.has(t, "late", "", false)
			if finalizers := w.binding(t, "a").Finalizers; len(finalizers) > 0 {
				t.Errorf("the binding has finalizers %v", finalizers)
			}
		})
	}
}

func TestFinalize_ManySubjects_AreListedInPages(t *testing.T) {
	w := blind(t, namespace())
	w.again(t)
	page := func(next string, items ...string) *unstructured.UnstructuredList {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apps/v1", "kind": "DeploymentList"}}
		list.SetContinue(next)
		for _, name := range items {
			w.add(t, name)
			list.Items = append(list.Items, *deployment(name, bound(url)))
		}
		return list
	}
	pages := map[string]*unstructured.UnstructuredList{"": page("1", "d", "e"), "1": page("2"), "2": page("", "f")}
	var asked []string
	w.dynamic.PrependReactor("list", "deployments", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		options := action.(clientgotesting.ListActionImpl).ListOptions
		if options.Limit == 0 {
			t.Error("a list has no limit")
		}
		asked = append(asked, options.Continue)
		return true, pages[options.Continue], nil
	})
	w.clock.Step(settling)
	w.again(t)
	if !slices.Equal(asked, []string{"", "1", "2"}) {
		t.Errorf("asked was for the pages %q", asked)
	}
	for _, name := range []string{"d", "e", "f"} {
		w.has(t, name, "", false)
	}
}
