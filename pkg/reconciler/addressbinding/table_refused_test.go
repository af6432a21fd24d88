/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// errNotAuthorized is how the API server answers who may not patch, errNotAdmitted how many webhooks refuse.
var (
	errNotAuthorized = apierrors.NewForbidden(deploymentsResource, "d",
		errors.New(`the API server's words: User "controller" cannot patch resource "deployments" in API group "apps" in the namespace "ns"`))
	errNotAdmitted = apierrors.NewForbidden(deploymentsResource, "d", errors.New(`admission webhook "policy" denied the request: no`))
)

const (
	notAuthorized = `patching Deployment d: deployments.apps "d" is forbidden: the API server's words: User "controller" cannot patch resource "deployments" in API group "apps" in the namespace "ns"`
	notAdmitted   = `patching Deployment d: deployments.apps "d" is forbidden: admission webhook "policy" denied the request: no`
)

// errTestFailed is how the API server answers a patch of which a test fails.
var errTestFailed = apierrors.NewGenericServerResponse(422, "", schema.GroupResource{}, "", "testing path failed", 0, false)

// Each refusal of a patch is said, and followed by what it is worth.
func TestPatchIsRefused(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "d", nil)
	invalid.ErrStatus.Details.Causes = []metav1.StatusCause{{Field: "spec"}}
	objects := []runtime.Object{object("a", listed()), hello(url), namespace(), everywhere, deployment("d")}
	row := func(name string, err error, reason, message string, row reconcilertesting.TableRow) reconcilertesting.TableRow {
		row.Name, row.Objects, row.WithReactors = name, objects, failing("patch", "deployments", err)
		row.WantPatches, row.WantErr = patches(patched("d", adds(url))), true
		marked := unbound(reason, message)
		if reason == v1.ReasonBinding {
			marked = binds(message)
		} else {
			row.WantEvents = append([]string{warning(reason, message)}, row.WantEvents...)
		}
		row.WantStatusUpdates = becomes(object("a", listed(marked, counted(1, 0), intercepted)))
		return row
	}
	recheck := reconcilertesting.TableRow{PostConditions: withRecheck(problem.FirstRecheck)}
	const failed = "patching Deployment d: induced"
	const undone = "Deployment d: the change was accepted, and something else was stored: a webhook undoes it, or the kind has no such field"
	runTable(t, reconcilertesting.TableTest{
		row("it fails", errInduced, v1.ReasonBindFailed, failed, reconcilertesting.TableRow{
			PostConditions: withError(failed),
		}),
		row("forbidden", errNotAuthorized, v1.ReasonSubjectForbidden, notAuthorized, recheck),
		row("forbidden by a webhook", errNotAdmitted, v1.ReasonBindFailed, notAdmitted, recheck),
		row("invalid", invalid, v1.ReasonBindFailed, `patching Deployment d: Deployment.apps "d" is invalid`, recheck),
		row("by a webhook", apierrors.NewBadRequest("no"), v1.ReasonBindFailed, "patching Deployment d: no", recheck),
		row("it has changed meanwhile", errTestFailed, v1.ReasonBinding, "Deployment d has changed meanwhile and is looked at again", recheck),
		row("conflict", apierrors.NewConflict(deploymentsResource, "d", errInduced), v1.ReasonBinding, "Deployment d has changed meanwhile and is looked at again", recheck),
		{
			Name: "it is gone meanwhile", Objects: objects, WithReactors: failing("patch", "deployments", apierrors.NewNotFound(deploymentsResource, "d")),
			WantPatches:       patches(patched("d", adds(url))),
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonSubjectNotFound, "Deployment.apps d does not exist"), counted(0, 0), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectNotFound, "Deployment.apps d does not exist")},
		},
		{
			Name:         "forbidden: the others are not tried",
			Objects:      []runtime.Object{object("a", bySelector, listed()), hello(url), namespace(), everywhere, deployment("d"), deployment("e")},
			WithReactors: failing("patch", "deployments", errNotAuthorized),
			WantPatches:  patches(patched("d", adds(url))), WantErr: true, PostConditions: withRecheck(problem.FirstRecheck),
			WantStatusUpdates: becomes(object("a", bySelector, listed(unbound(v1.ReasonSubjectForbidden, notAuthorized), counted(2, 0), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectForbidden, notAuthorized)},
		},
		{
			Name:         "one is forbidden by a webhook: the others are tried, since it is about that one",
			Objects:      []runtime.Object{object("a", bySelector, listed()), hello(url), namespace(), everywhere, deployment("d"), deployment("e")},
			WithReactors: answering("d", nil, errNotAdmitted),
			WantPatches:  patches(patched("d", adds(url)), patched("e", adds(url))), WantErr: true, PostConditions: withRecheck(problem.FirstRecheck),
			WantStatusUpdates: becomes(object("a", bySelector, listed(unbound(v1.ReasonBindFailed, notAdmitted), counted(2, 1), intercepted))),
			WantEvents:        []string{warning(v1.ReasonBindFailed, notAdmitted)},
		},
		{
			Name:         "it is accepted and comes to nothing: no event will tell, so it is said and tried again",
			Objects:      objects,
			WithReactors: answering("d", deployment("d"), nil),
			WantPatches:  patches(patched("d", adds(url))), WantErr: true, PostConditions: withRecheck(firstPause),
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonBindFailed, undone), counted(1, 0), intercepted))),
			WantEvents:        []string{warning(v1.ReasonBindFailed, undone)},
		},
		{
			Name:         "one fails: the others are tried",
			Objects:      []runtime.Object{object("a", bySelector, listed()), hello(url), namespace(), everywhere, deployment("d"), deployment("e")},
			WithReactors: failing("patch", "deployments", errInduced),
			WantPatches:  patches(patched("d", adds(url)), patched("e", adds(url))), WantErr: true, PostConditions: withError(failed),
			WantStatusUpdates: becomes(object("a", bySelector, listed(unbound(v1.ReasonBindFailed, failed+"; and 1 more"), counted(2, 0), intercepted))),
			WantEvents:        []string{warning(v1.ReasonBindFailed, failed+"; and 1 more")},
		},
		{
			Name:    "the status cannot be written: tried again",
			Objects: objects, WithReactors: failing("update", "addressbindings", errInduced),
			WantPatches: patches(patched("d", adds(url))), WantErr: true, PostConditions: withError("induced"),
			WantStatusUpdates: becomes(object("a", well)),
			WantEvents:        []string{warning("UpdateFailed", `Failed to update status for "a": induced`)},
		},
	})
}

// An object that the cache has as it is, and whose patch does not go with what the duck type does not show of it.
func TestPatchThatIsRefusedForLongIsToldAndTriedEverMoreSlowly(t *testing.T) {
	w := newWorld(t, object("a", listed()), hello(url), namespace(), everywhere, deployment("d"))
	w.dynamic.PrependReactor("*", "*", failing("patch", "deployments", errTestFailed)[0])
	for i, want := range []struct {
		reason  string
		recheck time.Duration
	}{
		{v1.ReasonBinding, time.Second},
		{v1.ReasonBinding, time.Second},
		{v1.ReasonBinding, 2 * time.Second},
		{v1.ReasonBinding, 4 * time.Second},
		{v1.ReasonBindFailed, 8 * time.Second},
		{v1.ReasonBindFailed, 16 * time.Second},
		{v1.ReasonBindFailed, 30 * time.Second},
		{v1.ReasonBindFailed, 30 * time.Second},
	} {
		_, after := controller.IsRequeueKey(w.reconciler.Reconcile(t.Context(), ns+"/a"))
		if after != want.recheck {
			t.Errorf("pass %d: the next one comes after %s, want %s", i, after, want.recheck)
		}
		written, err := w.samples.SamplesV1().AddressBindings(ns).Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c := written.Status.GetCondition(v1.AddressBindingConditionSubjectsBound); c == nil || c.Reason != want.reason {
			t.Errorf("pass %d: the condition is %+v, want reason %s", i, c, want.reason)
		}
		w.clock.SetTime(w.clock.Now().Add(after))
	}
	patched := 0
	for _, action := range w.dynamic.Actions() {
		if action.GetVerb() == "patch" {
			patched++
		}
	}
	if patched != 8 {
		t.Errorf("there were %d patches, want one in each pass", patched)
	}
}

// answering has the patch of one Deployment answered so.
func answering(name string, answer runtime.Object, err error) []clientgotesting.ReactionFunc {
	return []clientgotesting.ReactionFunc{func(action clientgotesting.Action) (bool, runtime.Object, error) {
		patch, ok := action.(clientgotesting.PatchAction)
		return ok && patch.GetName() == name && patch.GetResource().Resource == "deployments", answer, err
	}}
}
