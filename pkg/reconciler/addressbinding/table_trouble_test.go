/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

var deploymentsResource = schema.GroupResource{Group: "apps", Resource: "deployments"}

// listed is the status of a binding whose address is about to be written, with what else a pass marks.
func listed(marks ...mark) mod {
	return status(append([]mark{resolvedTo(url), lists(url)}, marks...)...)
}

// notBound is a row in which a subject does not get its address, and the pass says so once.
func notBound(name, reason, message string, matched int32, objs []runtime.Object, mods ...mod) reconcilertesting.TableRow {
	return reconcilertesting.TableRow{
		Name:    name,
		Objects: append([]runtime.Object{object("a", append(mods, listed())...), hello(url), everywhere}, objs...),
		WantStatusUpdates: becomes(object("a", append(mods,
			listed(unbound(reason, message), counted(matched, 0), intercepted))...)),
		WantEvents: []string{warning(reason, message)},
	}
}

func TestSubjectsThatCannotBeBound(t *testing.T) {
	const ownVariable = "Deployment d: container main has a variable K_ADDRESS of its own"
	const olders = "Deployment b: variable K_ADDRESS is that of AddressBinding older, which is older"
	older := object("A", func(ab *v1.AddressBinding) { ab.Name, ab.Spec.Subject.Name = "older", "b" }, status(resolvedTo(other), lists(other)))
	younger := func(ab *v1.AddressBinding) { ab.CreationTimestamp = metav1.Unix(1, 0) }
	job := withSubject("batch/v1", "Job", "j")
	jobs := listsOf("batch/v1", "Job", v1.DefaultVariable, url)
	runTable(t, reconcilertesting.TableTest{
		notBound("by a name that nothing has", v1.ReasonSubjectNotFound, "Deployment.apps d does not exist", 0, []runtime.Object{namespace(), deployment("e")}),
		notBound("that is being deleted", v1.ReasonSubjectNotFound, "Deployment.apps d does not exist", 0, []runtime.Object{namespace(), deployment("d", goingAway)}),
		notBound("without containers", v1.ReasonSubjectNotPodSpecable, "Deployment d has no containers at spec.template", 1,
			[]runtime.Object{namespace(), deployment("d", withSpec(map[string]any{}))}),
		notBound("in a namespace that does not opt in", v1.ReasonNotIncluded,
			"Deployment d: neither it nor its namespace has the label bindings.knative.dev/include=true", 1, []runtime.Object{namespace(withoutLabels), deployment("d")}),
		notBound("in a namespace that opts out", v1.ReasonNotIncluded,
			"Deployment d: it or its namespace has the label bindings.knative.dev/exclude=true", 1, []runtime.Object{namespace(optedOut), deployment("d")}),
		notBound("that opts out", v1.ReasonNotIncluded, "Deployment d: it or its namespace has the label bindings.knative.dev/exclude=true", 1,
			[]runtime.Object{namespace(), deployment("d", withLabels(map[string]string{"bindings.knative.dev/exclude": "true"}))}),
		notBound("with a variable of its own", v1.ReasonVariableTaken, ownVariable, 1, []runtime.Object{namespace(), deployment("d", has("mine"))}),
		notBound("of an older binding", v1.ReasonVariableTaken, olders, 1, []runtime.Object{namespace(), older, deployment("b", has(other))},
			younger, withSubject("apps/v1", "Deployment", "b")),
		{
			Name:    "several: one is told of, and how many more there are",
			Objects: []runtime.Object{object("a", bySelector, listed()), hello(url), everywhere, namespace(), deployment("d", has("1")), deployment("e", has("2")), deployment("f", has(url))},
			WantStatusUpdates: becomes(object("a", bySelector,
				listed(unbound(v1.ReasonVariableTaken, ownVariable+"; and 1 more"), counted(3, 1), intercepted))),
			WantEvents: []string{warning(v1.ReasonVariableTaken, ownVariable+"; and 1 more")},
		},
		{
			Name:    "a Job that was there before",
			Objects: []runtime.Object{object("a", job, status(resolvedTo(url), jobs)), hello(url), everywhere, namespace(), subjectOf("batch/v1", "Job", "j")},
			WantStatusUpdates: becomes(object("a", job, status(resolvedTo(url), jobs, unbound(v1.ReasonSubjectImmutable,
				"Job j was there before the address, and its containers cannot be changed"), counted(1, 0), intercepted))),
			WantEvents: []string{warning(v1.ReasonSubjectImmutable, "Job j was there before the address, and its containers cannot be changed")},
		},
		{
			Name: "a Job that has the address from before: it is ours for as long as that is there",
			Objects: []runtime.Object{
				object("a", job, status(resolvedTo(other), listsOf("batch/v1", "Job", v1.DefaultVariable, url, other))),
				hello(other), everywhere, namespace(), subjectOf("batch/v1", "Job", "j", has(url)),
			},
			WantStatusUpdates: becomes(object("a", job, status(resolvedTo(other), listsOf("batch/v1", "Job", v1.DefaultVariable, url, other),
				unbound(v1.ReasonSubjectImmutable, "Job j was there before the address, and its containers cannot be changed"), counted(1, 0), intercepted))),
			WantEvents: []string{warning(v1.ReasonSubjectImmutable, "Job j was there before the address, and its containers cannot be changed")},
		},
		{
			Name:              "an object that opts in alone",
			Objects:           []runtime.Object{object("a", listed()), hello(url), everywhere, namespace(withoutLabels), deployment("d", withLabels(map[string]string{"bindings.knative.dev/include": "true"}))},
			WantPatches:       patches(patched("d", adds(url))),
			WantStatusUpdates: becomes(object("a", well)),
		},
		{
			Name:        "one that opts out while bound loses its variable",
			Objects:     []runtime.Object{object("a", well), hello(url), everywhere, namespace(optedOut), deployment("d", has(url))},
			WantPatches: patches(patched("d", removes)),
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonNotIncluded,
				"Deployment d: it or its namespace has the label bindings.knative.dev/exclude=true"), counted(1, 0), intercepted))),
			WantEvents: []string{warning(v1.ReasonNotIncluded, "Deployment d: it or its namespace has the label bindings.knative.dev/exclude=true")},
		},
		{
			Name:              "one that leaves the selector loses its variable",
			Objects:           []runtime.Object{object("a", bySelector, well), hello(url), everywhere, namespace(), deployment("d", has(url), withLabels(nil))},
			WantPatches:       patches(patched("d", removes)),
			WantStatusUpdates: becomes(object("a", bySelector, listed(isBound, counted(0, 0), intercepted))),
		},
		{
			Name:              "its own variable goes: it gets ours",
			Objects:           []runtime.Object{object("a", listed(unbound(v1.ReasonVariableTaken, ownVariable), counted(1, 0), intercepted)), hello(url), everywhere, namespace(), deployment("d")},
			WantPatches:       patches(patched("d", adds(url))),
			WantStatusUpdates: becomes(object("a", well)),
			WantEvents:        []string{normal(EventSubjectsBound, "Every subject has the address")},
		},
		{
			Name:    "in a namespace that the cache does not have yet: nothing is written",
			Objects: []runtime.Object{object("a", listed()), hello(url), everywhere, deployment("d", has(url))},
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonNotIncluded,
				"Deployment d: neither it nor its namespace has the label bindings.knative.dev/include=true"), counted(1, 0), intercepted))),
			WantEvents: []string{warning(v1.ReasonNotIncluded, "Deployment d: neither it nor its namespace has the label bindings.knative.dev/include=true")},
		},
		{
			Name:              "no rule of the webhook yet",
			Objects:           []runtime.Object{object("a", listed()), hello(url), namespace(), webhooks(), deployment("d", has(url))},
			WantStatusUpdates: becomes(object("a", listed(isBound, counted(1, 1), notIntercepted(noRule)))),
		},
		{
			Name:              "in a namespace that no webhook is asked about",
			Objects:           []runtime.Object{object("a", listed()), hello(url), namespace(withoutWebhooks), everywhere, deployment("d", has(url))},
			WantStatusUpdates: becomes(object("a", listed(isBound, counted(1, 1), notIntercepted(noWebhooks)))),
		},
		{
			Name:              "no configuration of the webhook",
			Objects:           []runtime.Object{object("a", listed()), hello(url), namespace(), deployment("d", has(url))},
			WantStatusUpdates: becomes(object("a", listed(isBound, counted(1, 1), notIntercepted("the MutatingWebhookConfiguration binding.webhook.samples.knative.dev does not exist")))),
		},
	})
}

const noWebhooks = "the namespace has the label webhooks.knative.dev/exclude: new objects get their address after they were created"

const noRule = "the MutatingWebhookConfiguration binding.webhook.samples.knative.dev has no rule for deployments.apps yet: " +
	"new objects get their address after they were created"

func TestKindsThatCannotBeBound(t *testing.T) {
	unserved := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Name = "v2" }
	clusterWide := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Scope = apiextensionsv1.ClusterScoped }
	toDuck := withSubject("example.com/v1", "Duck", "k")
	toDucks := func(ab *v1.AddressBinding) {
		toDuck(ab)
		bySelector(ab)
	}
	entry := listsOf("example.com/v1", "Duck", v1.DefaultVariable, url)
	// The kind is not there, so that nothing of it can stand anywhere: what is listed is listed anew by each pass.
	row := func(name, reason, message string, objs ...runtime.Object) reconcilertesting.TableRow {
		return reconcilertesting.TableRow{
			Name:              name,
			Objects:           append([]runtime.Object{object("a", toDuck), hello(url), namespace(), everywhere}, objs...),
			WantStatusUpdates: becomes(object("a", toDuck, status(resolvedTo(url), entry, unbound(reason, message), kindUnknown(reason, message)))),
			WantEvents:        []string{warning(reason, message)},
		}
	}
	const notAtV2 = "the cluster does not serve kind Deployment at apps/v2; did you mean Deployment at apps/v1?"
	const absent = "the cluster does not serve kind Duck at example.com/v1"
	runTable(t, reconcilertesting.TableTest{
		row("that does not exist", v1.ReasonSubjectKindNotFound, absent),
		row("at another version", v1.ReasonSubjectKindNotFound, absent+"; its CRD serves v2", duckCRD(unserved)),
		row("in no namespace", v1.ReasonSubjectNotPodSpecable, "objects of Duck.example.com are in no namespace, so there are none beside the binding", duckCRD(clusterWide)),
		{
			Name:    "built in, without a Pod template",
			Objects: []runtime.Object{object("a", withSubject("v1", "Pod", "p")), hello(url), namespace(), everywhere},
			WantStatusUpdates: becomes(object("a", withSubject("v1", "Pod", "p"), status(resolvedTo(url), listsOf("v1", "Pod", v1.DefaultVariable, url),
				unbound(v1.ReasonSubjectNotPodSpecable, "Pod is a built-in kind without a Pod template"),
				kindUnknown(v1.ReasonSubjectNotPodSpecable, "Pod is a built-in kind without a Pod template")))),
			WantEvents: []string{warning(v1.ReasonSubjectNotPodSpecable, "Pod is a built-in kind without a Pod template")},
		},
		{
			Name:    "at a version that nobody serves, though it was bound at another one: that is not forgotten",
			Objects: []runtime.Object{object("a", unservedVersion, well), hello(url), namespace(), everywhere, deployment("d", has(url))},
			WantStatusUpdates: becomes(object("a", unservedVersion,
				listed(unbound(v1.ReasonSubjectKindNotFound, notAtV2), kindUnknown(v1.ReasonSubjectKindNotFound, notAtV2)))),
			WantEvents: []string{warning(v1.ReasonSubjectKindNotFound, notAtV2)},
		},
		{
			Name: "at a version that nobody serves, and for another variable: the one that was bound goes",
			Objects: []runtime.Object{
				object("a", unservedVersion, withVariable("PEER"), well), hello(url), namespace(), everywhere, deployment("d", has(url)),
			},
			WantStatusUpdates: becomes(object("a", unservedVersion, withVariable("PEER"), status(resolvedTo(url), lists(url),
				listsOf("apps/v2", "Deployment", "PEER", url),
				unbound(v1.ReasonSubjectKindNotFound, notAtV2), kindUnknown(v1.ReasonSubjectKindNotFound, notAtV2)))),
			WantPatches: patches(patched("d", removes)),
			WantEvents:  []string{warning(v1.ReasonSubjectKindNotFound, notAtV2)},
		},
		{
			Name: "that comes later",
			Objects: []runtime.Object{
				object("a", toDuck, status(resolvedTo(url), entry, unbound(v1.ReasonSubjectKindNotFound, absent))), hello(url), namespace(), everywhere,
				duckCRD(), subjectOf("example.com/v1", "Duck", "k"),
			},
			WantPatches:       patches(patched("k", adds(url))),
			WantStatusUpdates: becomes(object("a", toDuck, status(resolvedTo(url), entry, isBound, counted(1, 1), intercepted))),
			WantEvents:        []string{normal(EventSubjectsBound, "Every subject has the address")},
		},
		{
			Name: "whose template is none",
			Objects: []runtime.Object{
				object("a", toDuck, status(resolvedTo(url), entry)), hello(url), namespace(), everywhere,
				duckCRD(), subjectOf("example.com/v1", "Duck", "k", withSpec(map[string]any{"template": "text"})),
			},
			WantStatusUpdates: becomes(object("a", toDuck, status(resolvedTo(url), entry, unbound(v1.ReasonSubjectNotPodSpecable, malformed), counted(1, 0), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectNotPodSpecable, malformed)},
		},
		{
			Name: "whose template is none, beside one that fits, by a selector",
			Objects: []runtime.Object{
				object("a", toDucks, status(resolvedTo(url), entry)), hello(url), namespace(), everywhere,
				duckCRD(), subjectOf("example.com/v1", "Duck", "k", withSpec(map[string]any{"template": "text"})), subjectOf("example.com/v1", "Duck", "l", has(url)),
			},
			WantStatusUpdates: becomes(object("a", toDucks, status(resolvedTo(url), entry, unbound(v1.ReasonSubjectNotPodSpecable, malformed), counted(2, 1), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectNotPodSpecable, malformed)},
		},
		{
			Name:    "that cannot be looked up: tried again",
			Objects: []runtime.Object{object("a", listed()), hello(url), namespace(), everywhere},
			OtherTestData: map[string]any{prepareData: func(_ *testing.T, w *world) {
				w.discovery.PrependReactor("*", "*", failing("get", "resource", errInduced)[0])
			}},
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonSubjectUnavailable, "discovering apps/v1: induced"),
				kindUnknown(v1.ReasonSubjectUnavailable, "discovering apps/v1: induced")))),
			WantEvents: []string{warning(v1.ReasonSubjectUnavailable, "discovering apps/v1: induced")},
		},
		{
			Name:              "that may not be listed: looked at again",
			Objects:           []runtime.Object{object("a", listed()), hello(url), namespace(), everywhere},
			WithReactors:      failing("list", "deployments", apierrors.NewForbidden(deploymentsResource, "", errors.New("no"))),
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonSubjectForbidden, mayNotList), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectForbidden, mayNotList)},
		},
		{
			Name:              "that is gone meanwhile: its CRD tells",
			Objects:           []runtime.Object{object("a", listed()), hello(url), namespace(), everywhere},
			WithReactors:      failing("list", "deployments", apierrors.NewNotFound(deploymentsResource, "")),
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonSubjectKindNotFound, "the cluster does not serve kind Deployment at apps/v1"), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectKindNotFound, "the cluster does not serve kind Deployment at apps/v1")},
		},
		{
			Name:              "that cannot be listed: tried again",
			Objects:           []runtime.Object{object("a", listed()), hello(url), namespace(), everywhere},
			WithReactors:      failing("list", "deployments", errInduced),
			WantStatusUpdates: becomes(object("a", listed(unbound(v1.ReasonSubjectUnavailable, "failed to list deployments.apps: induced"), intercepted))),
			WantEvents:        []string{warning(v1.ReasonSubjectUnavailable, "failed to list deployments.apps: induced")},
		},
	})
}

const (
	mayNotList = "the operator may not list deployments.apps; grant list, watch and patch in a ClusterRole labelled duck.knative.dev/podspecable=true"
	malformed  = "Duck k: reading Duck ns/k as *v1.WithPod: json: cannot unmarshal string into Go struct field WithPodSpec.spec.template of type v1.PodSpecable"
)
