/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestMain(m *testing.M) { harness.Main(m, harness.AllVersions()) }

// hub is the version that is stored. Tests that name no version use it.
const hub = "v1"

var (
	resource = at(hub)
	// old are the versions other than the hub, and versions all of them.
	old      = []string{"v1alpha1", "v1beta1"}
	versions = []string{"v1alpha1", "v1beta1", hub}
	// referring are the versions that have spec.ref; the other has spec.serviceName.
	referring = []string{"v1beta1", hub}
	v1alpha1  = []string{"v1alpha1"}
)

// at is the resource at a version.
func at(version string) schema.GroupVersionResource {
	return v1.SchemeGroupVersion.WithResource("addressableservices").GroupResource().WithVersion(version)
}

// change changes an object.
type change func(o *unstructured.Unstructured)

// specs set every field of the spec of each version, all well.
var specs = map[string]map[string]any{
	"v1alpha1": {"serviceName": "target"},
	"v1beta1": {
		"ref":      map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "namespace": "elsewhere", "name": "target"},
		"port":     int64(80),
		"path":     "/path",
		"exposure": "External",
	},
	hub: {
		"ref":        map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "namespace": "elsewhere", "name": "target"},
		"ports":      []any{map[string]any{"name": "http", "port": int64(80), "appProtocol": "http"}},
		"path":       "/path",
		"visibility": "Public",
		"publish":    map[string]any{"alias": "alias"},
	},
}

// object makes an AddressableService that sets every field of the spec, all well, and changes it. The API server names it.
func object(namespace string, changes ...change) *unstructured.Unstructured {
	return objectAt(hub, namespace, changes...)
}

// objectAt is object for any version.
func objectAt(version, namespace string, changes ...change) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(specs[version])}}
	o.SetGroupVersionKind(samples.Kind("AddressableService").WithVersion(version))
	o.SetNamespace(namespace)
	o.SetGenerateName("subject-")
	for _, c := range changes {
		c(o)
	}
	return o
}

// set sets the field at a path such as spec.ports.0.name.
func set(path string, value any) change {
	return func(o *unstructured.Unstructured) {
		parent, last := parentOf(o.Object, path)
		parent[last] = runtime.DeepCopyJSONValue(value)
	}
}

// unset removes the field at a path.
func unset(path string) change {
	return func(o *unstructured.Unstructured) {
		parent, last := parentOf(o.Object, path)
		delete(parent, last)
	}
}

// parentOf returns the parent of the field at a path, and the field's name.
func parentOf(object map[string]any, path string) (parent map[string]any, name string) {
	var at any = object
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		if i, err := strconv.Atoi(step); err == nil {
			at = as[[]any](at)[i]
		} else {
			at = as[map[string]any](at)[step]
		}
	}
	return as[map[string]any](at), steps[len(steps)-1]
}

// as is a value that is known to be of a type.
func as[T any](value any) T {
	typed, ok := value.(T)
	if !ok {
		panic(fmt.Sprintf("%v is a %T, want a %T", value, value, typed))
	}
	return typed
}

// all makes one change of several.
func all(changes ...change) change {
	return func(o *unstructured.Unstructured) {
		for _, c := range changes {
			c(o)
		}
	}
}

// named gives an object another name.
func named(name string) change {
	return func(o *unstructured.Unstructured) {
		o.SetGenerateName("")
		o.SetName(name)
	}
}

// classed gives an object a class.
func classed(class string) change {
	return func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{samples.ClassAnnotationKey: class})
	}
}

// inOwnNamespace makes a reference name the namespace of its object.
func inOwnNamespace(o *unstructured.Unstructured) {
	set("spec.ref.namespace", o.GetNamespace())(o)
}

func services(env *harness.Env, namespace string) dynamic.ResourceInterface {
	return servicesAt(hub, env, namespace)
}

func servicesAt(version string, env *harness.Env, namespace string) dynamic.ResourceInterface {
	return env.Dynamic.Resource(at(version)).Namespace(namespace)
}

// versionOf is the version that an object is written in.
func versionOf(o *unstructured.Unstructured) string { return o.GroupVersionKind().Version }

// tryCreate creates an object at its version, as kubectl does: unknown fields are errors.
func tryCreate(t testing.TB, env *harness.Env, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	return servicesAt(versionOf(o), env, o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
}

// get reads an object at a version.
func get(t testing.TB, version string, env *harness.Env, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := servicesAt(version, env, namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading %s at %s: %v", name, version, err)
	}
	return o
}

func create(t testing.TB, env *harness.Env, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := tryCreate(t, env, o)
	if err != nil {
		t.Fatalf("creating an object with the spec %v: %v", o.Object["spec"], err)
	}
	return created
}

// causesOf returns the messages of a rejection by the API server by field.
func causesOf(t testing.TB, err error) []metav1.StatusCause {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		t.Errorf("got error %v, want one of the API server with details", err)
		return nil
	}
	return status.Status().Details.Causes
}
