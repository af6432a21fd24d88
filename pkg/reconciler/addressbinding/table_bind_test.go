/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

const aboutTo = "Deployment d is about to get the address"

func TestBind(t *testing.T) {
	ahead := status(resolvedTo(url), lists(url), binds(aboutTo), counted(1, 0), intercepted)
	runTable(t, reconcilertesting.TableTest{{
		Name:              "what is to be written is in the status first",
		Objects:           []runtime.Object{object("a"), hello(url), namespace(), everywhere, deployment("d")},
		WantStatusUpdates: becomes(object("a", ahead)),
	}, {
		Name:              "then it is written",
		Objects:           []runtime.Object{object("a", ahead), hello(url), namespace(), everywhere, deployment("d")},
		WantPatches:       patches(patched("d", adds(url))),
		WantStatusUpdates: becomes(object("a", well)),
	}, {
		Name: "listed for another version of its kind: it is listed for that of the spec",
		Objects: []runtime.Object{
			object("a", status(resolvedTo(url), listsOf("apps/v1beta2", "Deployment", "K_ADDRESS", url), isBound, counted(1, 1), intercepted)),
			hello(url), namespace(), everywhere, deployment("d", has(url)),
		},
		WantStatusUpdates: becomes(object("a", well)),
	}, {
		Name:    "at rest: nothing is written",
		Objects: []runtime.Object{object("a", well), hello(url), namespace(), everywhere, deployment("d", has(url))},
	}, {
		Name: "by a selector: those that do not have it, and no others",
		Objects: []runtime.Object{
			object("a", bySelector, status(resolvedTo(url), lists(url), intercepted)), hello(url), namespace(), everywhere,
			deployment("d"), deployment("e", has(url)), deployment("f", withEnv(variable("A", "b"))), deployment("g", withLabels(nil)),
		},
		WantPatches: patches(patched("d", adds(url)), patched("f", `{"op":"add","path":"`+envPath+`/-","value":{"name":"K_ADDRESS","value":"`+url+`"}}`)),
		WantStatusUpdates: becomes(object("a", bySelector,
			status(resolvedTo(url), lists(url), isBound, counted(3, 3), intercepted))),
	}, {
		Name:              "by a selector that chooses nothing: nothing is missing",
		Objects:           []runtime.Object{object("a", bySelector), hello(url), namespace(), everywhere},
		WantStatusUpdates: becomes(object("a", bySelector, status(resolvedTo(url), lists(url), isBound, counted(0, 0), intercepted))),
	}, {
		Name:              "another address: the old one stays listed with it",
		Objects:           []runtime.Object{object("a", well), hello(other), namespace(), everywhere, deployment("d", has(url))},
		WantStatusUpdates: becomes(object("a", status(resolvedTo(other), lists(url, other), binds(aboutTo), counted(1, 0), intercepted))),
	}, {
		Name: "another address, while another binding still seems to want the old one: that may be leaving it to us just now",
		Objects: []runtime.Object{
			object("a", well), object("b", well), hello(other), namespace(), everywhere, deployment("d", has(url)),
		},
		WantStatusUpdates: becomes(object("a", status(resolvedTo(other), lists(url, other), binds(aboutTo), counted(1, 0), intercepted))),
	}, {
		Name: "then it is left to the other binding",
		Objects: []runtime.Object{
			object("a", status(resolvedTo(other), lists(url, other), isBound, counted(1, 1), intercepted)), object("b", well),
			hello(other), namespace(), everywhere, deployment("d", has(other)),
		},
		WantStatusUpdates: becomes(object("a", status(resolvedTo(other), lists(other), isBound, counted(1, 1), intercepted))),
	}, {
		Name: "another address, listed: it takes the place of the old one",
		Objects: []runtime.Object{
			object("a", status(resolvedTo(other), lists(url, other), binds(aboutTo), counted(1, 0), intercepted)),
			hello(other), namespace(), everywhere, deployment("d", has(url)),
		},
		WantPatches:       patches(patched("d", replaces(other))),
		WantStatusUpdates: becomes(object("a", status(resolvedTo(other), lists(url, other), isBound, counted(1, 1), intercepted))),
		WantErr:           true, PostConditions: withRecheck(settle),
	}, {
		Name: "what is nowhere for a while leaves the status",
		Objects: []runtime.Object{
			object("a", status(resolvedTo(other), lists(url, other), isBound, counted(1, 1), intercepted)),
			hello(other), namespace(), everywhere, deployment("d", has(other)),
		},
		OtherTestData:     waited(settle),
		WantStatusUpdates: becomes(object("a", status(resolvedTo(other), lists(other), isBound, counted(1, 1), intercepted))),
	}, {
		Name: "what is nowhere for less stays",
		Objects: []runtime.Object{
			object("a", status(resolvedTo(other), lists(url, other), isBound, counted(1, 1), intercepted)),
			hello(other), namespace(), everywhere, deployment("d", has(other)),
		},
		OtherTestData: waited(settle - 1),
		WantErr:       true, PostConditions: withRecheck(1),
	}, {
		Name: "in the containers of a CronJob",
		Objects: []runtime.Object{
			object("a", withSubject("batch/v1", "CronJob", "c"), status(resolvedTo(url), listsOf("batch/v1", "CronJob", "K_ADDRESS", url))),
			hello(url), namespace(), everywhere,
			subjectOf("batch/v1", "CronJob", "c", withSpec(map[string]any{}), podSpec([]string{"spec", "jobTemplate", "spec", "template", "spec"})),
		},
		WantPatches: patches(patchedAt("c", "/spec/jobTemplate/spec/template/spec/containers/0",
			`{"op":"add","path":"/spec/jobTemplate/spec/template/spec/containers/0/env","value":[{"name":"K_ADDRESS","value":"`+url+`"}]}`)),
		WantStatusUpdates: becomes(object("a", withSubject("batch/v1", "CronJob", "c"),
			status(resolvedTo(url), listsOf("batch/v1", "CronJob", "K_ADDRESS", url), isBound, counted(1, 1), intercepted))),
	}, {
		Name: "in a kind of the cluster's own",
		Objects: []runtime.Object{
			object("a", withSubject("example.com/v1", "Duck", "k"), status(resolvedTo(url), listsOf("example.com/v1", "Duck", "K_ADDRESS", url))),
			hello(url), namespace(), everywhere, duckCRD(), subjectOf("example.com/v1", "Duck", "k"),
		},
		WantPatches: patches(patched("k", adds(url))),
		WantStatusUpdates: becomes(object("a", withSubject("example.com/v1", "Duck", "k"),
			status(resolvedTo(url), listsOf("example.com/v1", "Duck", "K_ADDRESS", url), isBound, counted(1, 1), intercepted))),
	}, {
		Name:              "made without the webhook: the finalizer comes first",
		Objects:           []runtime.Object{object("a", withoutFinalizer), hello(url), namespace(), everywhere, deployment("d")},
		WantPatches:       patches(finalizerPatch(`["samples.knative.dev/addressbinding"]`)),
		WantEvents:        []string{normal("FinalizerUpdate", `Updated "a" finalizers`)},
		WantStatusUpdates: becomes(object("a", withoutFinalizer, ahead)),
	}})
}

func TestAddress(t *testing.T) {
	missing := unresolved(v1.ReasonAddressNotFound, "AddressableService hello does not exist")
	runTable(t, reconcilertesting.TableTest{{
		Name:              "missing",
		Objects:           []runtime.Object{object("a"), namespace(), everywhere, deployment("d")},
		WantStatusUpdates: becomes(object("a", status(missing, noAddress, counted(1, 0), intercepted))),
		WantEvents:        []string{warning(v1.ReasonAddressNotFound, "AddressableService hello does not exist")},
	}, {
		Name:              "missing: the subject is missing, too",
		Objects:           []runtime.Object{object("a"), namespace(), everywhere},
		WantStatusUpdates: becomes(object("a", status(missing, unbound(v1.ReasonSubjectNotFound, "Deployment.apps d does not exist"), counted(0, 0), intercepted))),
		WantEvents: []string{
			warning(v1.ReasonAddressNotFound, "AddressableService hello does not exist"),
			warning(v1.ReasonSubjectNotFound, "Deployment.apps d does not exist"),
		},
	}, {
		Name:              "gone: the status says so first",
		Objects:           []runtime.Object{object("a", well), namespace(), everywhere, deployment("d", has(url))},
		WantStatusUpdates: becomes(object("a", status(missing, lists(url), noAddress, counted(1, 0), intercepted))),
		WantEvents:        []string{warning(v1.ReasonAddressNotFound, "AddressableService hello does not exist")},
	}, {
		Name: "gone: then it goes from the subject",
		Objects: []runtime.Object{
			object("a", status(missing, lists(url), noAddress, counted(1, 0), intercepted)), namespace(), everywhere, deployment("d", has(url)),
		},
		WantPatches: patches(patched("d", removes)),
		WantErr:     true, PostConditions: withRecheck(settle),
	}, {
		Name:              "none yet",
		Objects:           []runtime.Object{object("a"), hello(""), namespace(), everywhere, deployment("d")},
		WantStatusUpdates: becomes(object("a", status(unresolved(v1.ReasonAddressNotReady, "AddressableService hello has no address: TargetNotFound"), noAddress, counted(1, 0), intercepted))),
		WantEvents:        []string{warning(v1.ReasonAddressNotReady, "AddressableService hello has no address: TargetNotFound")},
	}, {
		Name:              "too long for a variable",
		Objects:           []runtime.Object{object("a"), hello("http://h/" + strings.Repeat("a", maxValue)), namespace(), everywhere, deployment("d")},
		WantStatusUpdates: becomes(object("a", status(unresolved(v1.ReasonAddressNotReady, "the address of AddressableService hello is longer than 4096 characters"), noAddress, counted(1, 0), intercepted))),
		WantEvents:        []string{warning(v1.ReasonAddressNotReady, "the address of AddressableService hello is longer than 4096 characters")},
	}, {
		Name: "there again",
		Objects: []runtime.Object{
			object("a", status(missing, lists(url), noAddress, counted(1, 0), intercepted)), hello(url), namespace(), everywhere, deployment("d", has(url)),
		},
		// By what is stored the variable would go, of which the next pass knows better.
		WantStatusUpdates: becomes(object("a", well)),
		WantEvents:        []string{normal(EventAddressResolved, "The AddressableService has an address again")},
	}})
}

func finalizerPatch(finalizers string) clientgotesting.PatchActionImpl {
	return clientgotesting.PatchActionImpl{
		ActionImpl: clientgotesting.ActionImpl{Namespace: ns}, Name: "a", PatchType: types.MergePatchType,
		Patch: fmt.Appendf(nil, `{"metadata":{"finalizers":%s,"resourceVersion":"1"}}`, finalizers),
	}
}
