/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"math/rand"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

var bindings = v1.SchemeGroupVersion.WithResource("addressbindings")

// randomService returns an AddressableService with random metadata, and reports whether its schema rejects it.
func randomService(r *rand.Rand, namespace, name string) (o *unstructured.Unstructured, invalid bool) {
	o = object(namespace, named(name))
	pick := func(changes ...change) { changes[r.Intn(len(changes))](o) }
	unchanged := all()
	pick(unchanged, unchanged, unchanged, unchanged, unchanged, classed("mallard"), classed("mallard"), classed("other"), classed(""), classed("Not A Class"), classed("a\nb"), classed("ä\"\x00"),
		classed(long(253)), classed(long(254)), classed(long(100_000)))
	pick(randomFinalizers(samples.FinalizerName)...)
	pick(unchanged, unchanged, annotated(""), annotated("{}"), annotated(`{"f":1}`))
	pick(unchanged, unchanged, unchanged, unchanged, set("metadata.labels", map[string]any{truncated: ""}), set("metadata.labels", map[string]any{truncated: "70000"}))
	pick(unchanged, unset("spec.visibility"))
	pick(unchanged, unchanged, unchanged, unchanged, toItself(name), all(toItself(name), inOwnNamespace), all(toItself(name), set("spec.ref.apiVersion", "samples.knative.dev/v0")))
	switch bound := bounds[hub][r.Intn(len(bounds[hub]))]; r.Intn(8) {
	case 0:
		pick(bound.rejected...)
		invalid = true
	case 1:
		pick(append(values("spec", "text", []any{}, map[string]any{}, int64(1), nil),
			append(values("spec.ref", "text", []any{}, nil), values("spec.ports", "text", map[string]any{}, []any{"text"})...)...)...)
		invalid = true
	default:
		pick(bound.accepted...)
	}
	return o, invalid
}

// randomFinalizers are lists of finalizers, of which some contain one.
func randomFinalizers(own string) []change {
	return append(values("metadata.finalizers", []any{}, []any{"example.com/other"}, []any{own}, []any{own, "example.com/other"}), all())
}

const truncated = "conversion.samples.knative.dev/properties-truncated"

// annotated gives an object the annotation with the properties of other versions.
func annotated(value string) change {
	return func(o *unstructured.Unstructured) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["conversion.samples.knative.dev/properties"] = value
		o.SetAnnotations(annotations)
	}
}

// bindingTo returns an AddressBinding of a Deployment, and changes it.
func bindingTo(namespace, name string, changes ...change) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"address": map[string]any{"name": "it"}, "subject": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"}, "variable": "V",
	}}}
	o.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("AddressBinding"))
	o.SetNamespace(namespace)
	for _, c := range append(changes, named(name)) {
		c(o)
	}
	return o
}

// randomBinding returns an AddressBinding with a random subject, and reports whether its schema rejects it.
func randomBinding(r *rand.Rand, namespace, name string) (o *unstructured.Unstructured, invalid bool) {
	o = bindingTo(namespace, name)
	pick := func(changes ...change) { changes[r.Intn(len(changes))](o) }
	pick(randomFinalizers(samples.AddressBindingFinalizerName)...)
	pick(append(values("spec.subject.namespace", append(slices.Clone(subjectFields["namespace"]), namespace)...), all())...)
	if r.Intn(2) == 0 {
		unset("spec.subject.name")(o)
		pick(values("spec.subject.selector", subjectFields["selector"]...)...)
	}
	if r.Intn(8) == 0 {
		pick(append(values("spec.subject", "text", []any{}, map[string]any{}, nil), append(values("spec", "text", map[string]any{}, nil),
			values("spec.subject.selector", "text", selecting("a", "b"), map[string]any{"matchLabels": map[string]any{"a": int64(1)}})...)...)...)
		_, hasName, _ := unstructured.NestedString(o.Object, "spec", "subject", "name")
		_, hasSelector, err := unstructured.NestedMap(o.Object, "spec", "subject", "selector")
		invalid = err != nil || hasName == hasSelector
	}
	return o, invalid
}
