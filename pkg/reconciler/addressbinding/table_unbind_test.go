/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

func TestUnbind(t *testing.T) {
	gone := patches(finalizerPatch("[]"))
	unfinalized := []string{normal("FinalizerUpdate", `Updated "a" finalizers`)}
	const notListed = "the cluster does not serve kind Deployment at apps/v1"
	const failed = "patching Deployment d: induced"
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp = metav1.Unix(1, 0) }, status(resolvedTo(other), lists(other)))
	same := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp = metav1.Unix(1, 0) }, well)
	toDuck := withSubject("example.com/v2", "Duck", "k")
	ducks := status(resolvedTo(url), listsOf("example.com/v2", "Duck", v1.DefaultVariable, url))

	runTable(t, reconcilertesting.TableTest{{
		Name:        "nothing was ever bound",
		Objects:     []runtime.Object{object("a", beingDeleted, status()), namespace(), deployment("d", has("mine"))},
		WantPatches: gone, WantEvents: unfinalized,
	}, {
		Name:        "the variable goes, and the binding stays for a moment",
		Objects:     []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(), deployment("d", withEnv(variable("A", "b"), variable("K_ADDRESS", url)))},
		WantPatches: patches(patched("d", `{"op":"remove","path":"`+envPath+`/1"}`)),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:          "then it goes, too",
		Objects:       []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(), deployment("d", has("mine"))},
		OtherTestData: waited(settle),
		WantPatches:   gone, WantEvents: unfinalized,
	}, {
		Name:        "at once if nothing new can come into the namespace",
		Objects:     []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(terminating)},
		WantPatches: gone, WantEvents: unfinalized,
	}, {
		Name:        "at once if its kind is gone",
		Objects:     []runtime.Object{object("a", beingDeleted, withSubject("example.com/v1", "Duck", "k"), status(resolvedTo(url), listsOf("example.com/v1", "Duck", "K_ADDRESS", url))), namespace()},
		WantPatches: gone, WantEvents: unfinalized,
	}, {
		Name:        "at once if another binding looks after the variable",
		Objects:     []runtime.Object{object("a", beingDeleted, well), same, hello(url), namespace(), deployment("d", has(url))},
		WantPatches: gone, WantEvents: unfinalized,
	}, {
		Name: "another binding that wants the variable does not look after it before it says so",
		Objects: []runtime.Object{
			object("a", beingDeleted, well), object("b", status(resolvedTo(url))), hello(url), namespace(), deployment("d", has(url)),
		},
		WantPatches: patches(patched("d", removes)),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:        "another binding that goes, too, does not look after the variable",
		Objects:     []runtime.Object{object("a", beingDeleted, well), object("b", beingDeleted, well), hello(url), namespace(), deployment("d", has(url))},
		WantPatches: patches(patched("d", removes)),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:        "a younger binding takes over",
		Objects:     []runtime.Object{object("a", beingDeleted, well), young, hello(url), namespace(), deployment("d", has(url))},
		WantPatches: patches(patched("d", replaces(other))),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:        "its kind is served at another version: that has the same objects",
		Objects:     []runtime.Object{object("a", beingDeleted, toDuck, ducks), namespace(), duckCRD(), subjectOf("example.com/v1", "Duck", "k", has(url))},
		WantPatches: patches(patched("k", removes)),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:        "its spec was changed to a version that nobody serves: what is listed is at another one",
		Objects:     []runtime.Object{object("a", beingDeleted, unservedVersion, well), hello(url), namespace(), deployment("d", has(url))},
		WantPatches: patches(patched("d", removes)),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:          "what a Job has stays",
		Objects:       []runtime.Object{object("a", beingDeleted, withSubject("batch/v1", "Job", "j"), status(resolvedTo(url), listsOf("batch/v1", "Job", "K_ADDRESS", url))), namespace(), subjectOf("batch/v1", "Job", "j", has(url))},
		OtherTestData: waited(settle),
		WantPatches:   gone, WantEvents: unfinalized,
	}, {
		Name:         "forbidden: it stays, and is looked at again",
		Objects:      []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(), deployment("d", has(url))},
		WithReactors: failing("patch", "deployments", errNotAuthorized),
		WantPatches:  patches(patched("d", removes)),
		WantErr:      true, PostConditions: withRecheck(problem.FirstRecheck),
		WantStatusUpdates: becomes(object("a", beingDeleted, listed(unbound(v1.ReasonSubjectForbidden, notAuthorized), counted(1, 1), intercepted))),
		WantEvents:        []string{warning(v1.ReasonSubjectForbidden, notAuthorized)},
	}, {
		Name:         "its kind cannot be listed, though it seems to be served: it stays, and is looked at again",
		Objects:      []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(), deployment("d", has(url))},
		WithReactors: failing("list", "deployments", apierrors.NewNotFound(deploymentsResource, "")),
		WantErr:      true, PostConditions: withRecheck(problem.FirstRecheck),
		WantStatusUpdates: becomes(object("a", beingDeleted, listed(unbound(v1.ReasonUnbindFailed, notListed), counted(1, 1), intercepted))),
		WantEvents:        []string{warning(v1.ReasonUnbindFailed, notListed)},
	}, {
		Name:          "its kind cannot be listed for long: it stays all the same",
		Objects:       []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(), deployment("d", has(url))},
		OtherTestData: waited(settle, failing("list", "deployments", apierrors.NewNotFound(deploymentsResource, ""))...),
		WantErr:       true, PostConditions: withRecheck(settle),
		WantStatusUpdates: becomes(object("a", beingDeleted, listed(unbound(v1.ReasonUnbindFailed, notListed), counted(1, 1), intercepted))),
		// The cache has the status from before the first pass.
		WantEvents: []string{warning(v1.ReasonUnbindFailed, notListed), warning(v1.ReasonUnbindFailed, notListed)},
	}, {
		Name:         "it fails: tried again",
		Objects:      []runtime.Object{object("a", beingDeleted, well), hello(url), namespace(), deployment("d", has(url))},
		WithReactors: failing("patch", "deployments", errInduced),
		WantPatches:  patches(patched("d", removes)),
		WantErr:      true, PostConditions: withError(failed),
		WantStatusUpdates: becomes(object("a", beingDeleted, listed(unbound(v1.ReasonUnbindFailed, failed), counted(1, 1), intercepted))),
		WantEvents:        []string{warning(v1.ReasonUnbindFailed, failed)},
	}, {
		Name:         "the finalizer cannot be taken away: tried again",
		Objects:      []runtime.Object{object("a", beingDeleted, status()), namespace()},
		WithReactors: failing("patch", "addressbindings", errInduced),
		WantPatches:  gone,
		WantErr:      true, PostConditions: withError("induced"),
		WantEvents: []string{warning("FinalizerUpdateFailed", `Failed to update finalizers for "a": induced`)},
	}, {
		Name: "in a kind that it was for before",
		Objects: []runtime.Object{
			object("a", withSubject("apps/v1", "StatefulSet", "s"), status(resolvedTo(url), lists(url), listsOf("apps/v1", "StatefulSet", "K_ADDRESS", url))),
			hello(url), namespace(), everywhere, deployment("d", has(url)), subjectOf("apps/v1", "StatefulSet", "s", has(url)),
		},
		WantPatches: patches(patched("d", removes)),
		WantErr:     true, PostConditions: withRecheck(settle),
		WantStatusUpdates: becomes(object("a", withSubject("apps/v1", "StatefulSet", "s"),
			status(resolvedTo(url), lists(url), listsOf("apps/v1", "StatefulSet", "K_ADDRESS", url), isBound, counted(1, 1), intercepted))),
	}, {
		Name: "in a kind that it was for before, and may not be patched",
		Objects: []runtime.Object{
			object("a", withSubject("apps/v1", "StatefulSet", "s"), status(resolvedTo(url), lists(url), listsOf("apps/v1", "StatefulSet", "K_ADDRESS", url))),
			hello(url), namespace(), everywhere, deployment("d", has(url)), subjectOf("apps/v1", "StatefulSet", "s", has(url)),
		},
		WithReactors: failing("patch", "deployments", errNotAuthorized),
		WantPatches:  patches(patched("d", removes)),
		WantErr:      true, PostConditions: withRecheck(problem.FirstRecheck),
		WantStatusUpdates: becomes(object("a", withSubject("apps/v1", "StatefulSet", "s"),
			status(resolvedTo(url), lists(url), listsOf("apps/v1", "StatefulSet", "K_ADDRESS", url), unbound(v1.ReasonSubjectForbidden, notAuthorized), counted(1, 1), intercepted))),
		WantEvents: []string{warning(v1.ReasonSubjectForbidden, notAuthorized)},
	}})
}
