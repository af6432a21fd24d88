/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgotesting "k8s.io/client-go/testing"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

var toDuck = withRef("example.com/v1", "Duck", "", "d")

// fails is a row in which the target leads to no address for a reason that is
// watched: one write, one event, and the reconciliation is complete.
func fails(name, reason, message string, ref mod, objs ...runtime.Object) reconcilertesting.TableRow {
	return reconcilertesting.TableRow{
		Name:              name,
		Objects:           append([]runtime.Object{object("a", ref)}, objs...),
		WantStatusUpdates: reconcilertest.Becomes(object("a", ref, status(unresolved(reason, message), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(reason, message)},
	}
}

func TestReconcile_AddressableTarget_ReportsItsAddress(t *testing.T) {
	resolves := func(name string, objs ...runtime.Object) reconcilertesting.TableRow {
		return reconcilertesting.TableRow{
			Name:              name,
			Objects:           append([]runtime.Object{object("a", toDuck)}, objs...),
			WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, status(at("http://d.example.com"), notRequested))),
		}
	}
	runTable(t, reconcilertesting.TableTest{
		resolves("with an address", aDuck(ns, "d", addressStatus("http://d.example.com"))),
		resolves("with a malformed one in the namespace", aDuck(ns, "bad", "well"), aDuck(ns, "d", addressStatus("http://d.example.com"))),
		resolves("with named addresses only", aDuck(ns, "d", map[string]any{"addresses": []any{map[string]any{"url": "http://d.example.com"}}})),
		fails("missing", v1.ReasonTargetNotFound, "Duck.example.com d does not exist", toDuck),
		fails("in another namespace", v1.ReasonTargetNotFound, "Duck.example.com d does not exist", toDuck,
			aDuck("other", "d", addressStatus("http://d.example.com"))),
		fails("without an address", v1.ReasonTargetHasNoAddress, "Duck.example.com d has no status.address.url", toDuck,
			aDuck(ns, "d", map[string]any{})),
		fails("with an address without host", v1.ReasonTargetNotAddressable,
			`the address of Duck.example.com d is unusable: its URL "/path" needs a scheme and a host`, toDuck,
			aDuck(ns, "d", addressStatus("/path"))),
		fails("with an address without scheme", v1.ReasonTargetNotAddressable,
			`the address of Duck.example.com d is unusable: its URL "//d.example.com/x" needs a scheme and a host`, toDuck,
			aDuck(ns, "d", addressStatus("//d.example.com/x"))),
		fails("malformed", v1.ReasonTargetNotAddressable,
			"the status of Duck.example.com d does not have the form of an Addressable's", toDuck, aDuck(ns, "d", "well")),
		fails("of a built-in kind", v1.ReasonTargetNotAddressable,
			"Deployment.apps v1 is a built-in kind, of which only Service v1 has an address", withRef("apps/v1", "Deployment", "", "d")),
	})
}

// The reconciliation is repeated with back-off, because no watch delivers that the kind is served.
func TestReconcile_TargetKindNotServed_ReportsIt(t *testing.T) {
	const message, alone = "the cluster does not serve kind Duck at example.com/v1", "the cluster does not serve kind Goose at example.com/v2"
	toGoose := withRef("example.com/v2", "Goose", "", "g")
	noDuck := fails("no CRD", v1.ReasonTargetKindNotFound, message, toDuck)
	noDuck.WithReactors = []clientgotesting.ReactionFunc{unserved()}
	served := fails("no longer served: the address goes", v1.ReasonTargetKindNotFound, message, toDuck)
	served.Objects = []runtime.Object{object("a", toDuck, status(at("http://d.example.com"), notRequested))}
	served.WithReactors = noDuck.WithReactors
	noGoose := fails("another kind", v1.ReasonTargetKindNotFound, alone, toGoose)
	own := fails("own kind at another version", v1.ReasonTargetKindNotFound, "the cluster does not serve kind AddressableService at samples.knative.dev/v9",
		withRef("samples.knative.dev/v9", "AddressableService", "", "b"), object("b", status(at("http://b.example.com"), notRequested)))
	table := reconcilertesting.TableTest{noDuck, served, noGoose, own}
	for i := range table {
		table[i].WantErr, table[i].PostConditions = true, withError("not found")
	}
	runTable(t, table)
}

// Links of a chain are tracked, since each may close a cycle.
func TestReconcile_EachObjectThatItReads_IsTracked(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", toDuck, asAl), aDuck(ns, "d", addressStatus(duckURL)), dir)
	w.converge(t)
	for name, obj := range map[string]any{
		"target":        duckOf(ns, "d"),
		"alias":         typed(serviceKind, alias("al", "b", host)),
		"directory":     typed(namespaceKind, namespace(directory)),
		"own namespace": typed(namespaceKind, namespace(ns)),
	} {
		if got := w.observers(obj); got != "a" {
			t.Errorf("%s: a change enqueues %q, want a", name, got)
		}
	}
	for name, obj := range map[string]any{
		"object of the same name in another namespace": duckOf("other", "d"),
		"claimed alias in another namespace":           typed(serviceKind, alias("al", "a", host, claimed)),
	} {
		if got := w.observers(obj); got != "" {
			t.Errorf("%s: a change enqueues %q", name, got)
		}
	}
	w = newWorld(t, testConfig(), object("a", refTo("b")), object("b", refTo("c")))
	w.converge(t)
	for _, name := range []string{"b", "c"} {
		if got := w.observers(typed(addressableServiceKind, object(name))); got != "a" {
			t.Errorf("a change of link %s enqueues %q, want a", name, got)
		}
	}
	w = newWorld(t, testConfig(), object("a", withRef("v1", "Service", "other", "target")))
	w.converge(t)
	if got := w.observers(typed(serviceKind, service("other", "target"))); got != "" {
		t.Errorf("a change of a target whose reference is denied enqueues %q", got)
	}
}

func duckOf(namespace, name string) *duckv1.AddressableType {
	return &duckv1.AddressableType{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Duck"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
}

// typed sets the kind of an object, as the handlers do.
func typed[T runtime.Object](kind schema.GroupVersionKind, obj T) T {
	obj.GetObjectKind().SetGroupVersionKind(kind)
	return obj
}
