/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	annotation = "conversion.samples.knative.dev/properties"
	hub        = "v1"
)

// old are the versions besides the hub, and versions all of them.
var (
	old      = []string{"v1alpha1", "v1beta1"}
	versions = append([]string{hub}, old...)
)

// at is an AddressableService at a version.
func at(version, namespace, name string) harness.Ref {
	return harness.Ref{
		Resource:  schema.GroupVersionResource{Group: samples.GroupName, Version: version, Resource: "addressableservices"},
		Namespace: namespace, Name: name,
	}
}

// get reads an object.
func get(t *testing.T, env *harness.Env, ref harness.Ref) *unstructured.Unstructured {
	t.Helper()
	object, err := env.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace).Get(t.Context(), ref.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading %s at %s: %v", ref, ref.Resource.Version, err)
	}
	return object
}
