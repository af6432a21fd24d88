/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	duckv1 "knative.dev/pkg/apis/duck/v1"
)

func TestInformer_MalformedObject_IsDeliveredWithTheOthers(t *testing.T) {
	for name, status := range map[string]any{
		"status is text":    "well",
		"address is text":   object{"address": "http://a"},
		"URL is an object":  object{"address": object{"url": object{}}},
		"URL cannot be":     addressed("http://a b%zz"),
		"addresses is text": object{"addresses": "http://a"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newAPIServer(t)
			server.put(newDuck("bad", status))
			server.put(newDuck("good", addressed("http://good")))
			factory, events := newFactory(t, server)
			lister := mustList(t, factory)

			if got := urlOf(t, lister, "bad"); got != "malformed" {
				t.Errorf("in the list the bad one is %s", got)
			}
			if got := urlOf(t, lister, "good"); got != "http://good" {
				t.Errorf("in the list the good one is %s", got)
			}
			server.put(newDuck("good", status))
			eventually(t, "one that becomes bad arrives", func() bool { return urlOf(t, lister, "good") == "malformed" })
			server.put(newDuck("bad", addressed("http://fixed")))
			eventually(t, "one that is fixed arrives", func() bool { return urlOf(t, lister, "bad") == "http://fixed" })
			server.put(newDuck("later", addressed("http://later")))
			eventually(t, "one that comes later arrives", func() bool { return urlOf(t, lister, "later") == "http://later" })
			eventually(t, "the handler receives all", func() bool {
				return slices.Contains(events.events(), "update good") && slices.Contains(events.events(), "update bad")
			})
		})
	}
}

func TestMalformed_Object_KeepsItsIdentity(t *testing.T) {
	factory := New(t.Context(), nil, &duckv1.AddressableType{}, sets.New("kept"), nil)
	in := &unstructured.Unstructured{Object: object{
		"apiVersion": "example.com/v1", "kind": "Duck",
		"metadata": object{
			"namespace": "ns", "name": "a", "resourceVersion": "7", "uid": "u", "labels": object{"l": "v"},
			"annotations":   object{"large": "value", "kept": "value"},
			"managedFields": []any{object{"manager": "kubectl"}},
		},
		"spec": object{"secret": "of no interest"}, "status": "well",
	}}
	out, err := factory.toDuckType(in)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := out.(*Malformed)
	if !ok {
		t.Fatalf("got a %T", out)
	}
	want := object{
		"apiVersion": "example.com/v1", "kind": "Duck",
		"metadata": object{"namespace": "ns", "name": "a", "resourceVersion": "7", "uid": "u", "labels": object{"l": "v"}},
	}
	if diff := cmp.Diff(want, got.Object); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if msg := got.Err.Error(); !strings.Contains(msg, "Duck ns/a") || !strings.Contains(msg, "AddressableType") {
		t.Errorf("the error %q does not name object and type", msg)
	}

	copied, ok := got.DeepCopyObject().(*Malformed)
	if !ok || copied.Err == nil {
		t.Fatalf("the copy is %v", copied)
	}
	copied.SetName("b")
	if got.GetName() != "a" {
		t.Error("the copy shares memory with the original")
	}
}

func TestTransform_Annotations_OnlyThoseAskedForAreKept(t *testing.T) {
	for name, tc := range map[string]struct {
		keep              sets.Set[string]
		annotations, want map[string]string
	}{
		"none":         {sets.New("kept"), nil, nil},
		"one of two":   {sets.New("kept"), map[string]string{"large": "value", "kept": "value"}, map[string]string{"kept": "value"}},
		"none of one":  {sets.New("kept"), map[string]string{"large": "value"}, map[string]string{}},
		"all, if nil":  {nil, map[string]string{"large": "value"}, map[string]string{"large": "value"}},
		"no key given": {sets.New[string](), map[string]string{"large": "value"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			in := &unstructured.Unstructured{Object: newDuck("a", addressed("http://a"))}
			in.SetAnnotations(tc.annotations)
			out, err := New(t.Context(), nil, &duckv1.AddressableType{}, tc.keep, nil).toDuckType(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.(*duckv1.AddressableType).Annotations); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// An informer transforms the objects that it already holds again when it relists.
func TestTransform_ItsOwnResult_IsAccepted(t *testing.T) {
	factory := New(t.Context(), nil, &duckv1.AddressableType{}, sets.New("kept"), nil)
	for _, obj := range []any{&duckv1.AddressableType{}, &Malformed{}} {
		got, err := factory.toDuckType(obj)
		if err != nil || got != obj {
			t.Errorf("%T became %v, %v", obj, got, err)
		}
	}
}
