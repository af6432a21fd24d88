/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
)

// deployment is an object of a kind that this program need not know.
var deployment = &unstructured.Unstructured{Object: map[string]any{
	"apiVersion": "apps/v1",
	"kind":       "Deployment",
	"metadata":   map[string]any{"name": "greeter"},
	"spec": map[string]any{
		"replicas": int64(3),
		"template": map[string]any{
			"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "hello"}}},
		},
	},
}}

// Fields that the duck type lacks are left out.
func Example_reading() {
	var read duckv1.WithPod
	if err := duck.FromUnstructured(deployment, &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Name, "runs", read.Spec.Template.Spec.Containers[0].Image)
	// Output: greeter runs hello
}

// Fields that the duck type lacks cannot be in the patch.
func Example_writing() {
	var before duckv1.WithPod
	if err := duck.FromUnstructured(deployment, &before); err != nil {
		log.Fatal(err)
	}
	after := before.DeepCopy()
	after.Spec.Template.Spec.Containers[0].Image = "hello:2"

	patch, err := duck.CreatePatch(&before, after)
	if err != nil {
		log.Fatal(err)
	}
	content, err := patch.MarshalJSON()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(content))
	// Output: [{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"hello:2"}]
}

// Lists are compared by their indexes: what is taken out in front moves all that comes behind, field by field.
func Example_lists() {
	read := func(names ...any) *duckv1.WithPod {
		var typed duckv1.WithPod
		object := deployment.DeepCopy()
		if err := unstructured.SetNestedSlice(object.Object, names, "spec", "template", "spec", "containers"); err != nil {
			log.Fatal(err)
		}
		if err := duck.FromUnstructured(object, &typed); err != nil {
			log.Fatal(err)
		}
		return &typed
	}
	container := func(name string) any { return map[string]any{"name": name, "image": "i"} }
	patch, err := duck.CreatePatch(read(container("a"), container("b")), read(container("b")))
	if err != nil {
		log.Fatal(err)
	}
	for _, operation := range patch {
		fmt.Println(operation.Operation, operation.Path)
	}
	// Output:
	// remove /spec/template/spec/containers/1
	// replace /spec/template/spec/containers/0/name
}

// A kind is Configurable if its objects fit this.
func ExampleConfigurableType() {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samples.knative.dev/v1alpha1",
		"kind":       "SimpleDeployment",
		"metadata":   map[string]any{"name": "web"},
		"spec":       map[string]any{"image": "hello", "configurable": map[string]any{"env": []any{map[string]any{"name": "A", "value": "b"}}}},
	}}
	var read v1alpha1.ConfigurableType
	if err := duck.FromUnstructured(object, &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Spec.Configurable.Env)
	// Output: [{A b}]
}
