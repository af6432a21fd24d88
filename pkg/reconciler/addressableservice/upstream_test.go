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
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// The tests in this file show what is wrong in knative.dev/pkg and worked round
// here. One that fails after an update says what may be simpler from now on.

func TestUpstream_Filters_DropTombstones(t *testing.T) {
	as := object("a", func(as *v1.AddressableService) { as.Labels = map[string]string{"k": "v"} })
	tombstone := cache.DeletedFinalStateUnknown{Key: ns + "/a", Obj: as}
	for name, filter := range map[string]func(any) bool{
		"AnnotationFilterFunc":  reconciler.AnnotationFilterFunc(samples.ClassAnnotationKey, samples.ClassMallard, false),
		"LabelFilterFunc":       reconciler.LabelFilterFunc("k", "v", false),
		"LabelExistsFilterFunc": reconciler.LabelExistsFilterFunc("k"),
		"NameFilterFunc":        reconciler.NameFilterFunc("a"),
		"NamespaceFilterFunc":   reconciler.NamespaceFilterFunc(ns),
	} {
		if !filter(as) {
			t.Errorf("%s rejects the object itself", name)
		}
		if filter(tombstone) {
			t.Errorf("%s of knative.dev/pkg accepts tombstones now, and may be used with informers", name)
		}
	}
}

// A real API server answers the first status write with a conflict, because it
// carries the resourceVersion from before the finalizer was patched. The fake does not
// look at resourceVersions, so the server's part is played here.
func TestUpstream_StatusUpdateAfterFinalizer_HasTheStaleResourceVersion(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", withoutFinalizer), service(ns, "target"))
	const patched = "2"
	w.samples.PrependReactor("patch", "addressableservices", func(clientgotesting.Action) (bool, runtime.Object, error) {
		as := object("a")
		as.ResourceVersion = patched
		return true, as, w.samples.Tracker().Update(v1.SchemeGroupVersion.WithResource("addressableservices"), as, ns)
	})
	var versions []string
	w.samples.PrependReactor("update", "addressableservices/status", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		update, ok := action.(clientgotesting.UpdateAction)
		if !ok {
			return false, nil, nil
		}
		as, ok := update.GetObject().(*v1.AddressableService)
		if !ok {
			return false, nil, nil
		}
		versions = append(versions, as.ResourceVersion)
		if as.ResourceVersion != patched {
			return true, nil, apierrors.NewConflict(v1.Resource("addressableservices"), "a", errors.New("the object has been modified"))
		}
		return false, nil, nil
	})
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, action := range w.samples.Actions() {
		verbs = append(verbs, action.GetVerb())
	}
	if len(versions) == 1 && versions[0] == patched {
		t.Error("the generated reconciler writes the status with the resourceVersion that its patch returned; " +
			"the defaulting webhook need not set the finalizer any more")
	}
	if want := 4; len(verbs) != want {
		t.Errorf("the first reconciliation makes the requests %q, want patch, update, get, update", verbs)
	}
}

// Names of finalizers without a path are warned of by the API server.
func TestFinalizer_Name_EqualsThatOfAdmission(t *testing.T) {
	w := newWorld(t, testConfig(), object("a"), service(ns, "target"))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	for _, action := range w.samples.Actions() {
		if action.GetVerb() == "patch" {
			t.Errorf("an object that has finalizer %s from admission gets another one", samples.FinalizerName)
		}
	}
}
