/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	include, exclude = "bindings.knative.dev/include", "bindings.knative.dev/exclude"
	address          = "http://first.example.com"
	// given is the variable as it stands in an object.
	given = `{"name":"K_ADDRESS","value":"` + address + `"}`
)

// subjects is a namespace with an address that bindings may be for.
type subjects struct {
	*harness.Env

	namespace string
}

// newSubjects makes a namespace with labels, and in it an AddressableService hello that has the address.
func newSubjects(t *testing.T, env *harness.Env, labels ...string) *subjects {
	t.Helper()
	s := &subjects{env, env.Namespace(t)}
	s.Patch(t, harness.Ref{Resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Name: s.namespace}, labeled(labels...))
	s.setAddress(t, s.Apply(t, s.namespace, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: hello, annotations: {samples.knative.dev/addressableservice.class: other}}
spec: {ref: {apiVersion: v1, kind: Service, name: none}}
`)[0], address)
	return s
}

// setAddress gives hello an address, as the operator of its class would.
func (s *subjects) setAddress(t *testing.T, hello harness.Ref, url string) {
	t.Helper()
	s.Patch(t, hello, fmt.Sprintf(`{"status": {"address": {"url": %q}}}`, url), "status")
}

func labeled(labels ...string) string {
	values := map[string]string{}
	for _, label := range labels {
		values[label] = "true"
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": values}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// bind makes a binding of hello to all of a kind with the label bound=to-it.
func (s *subjects) bind(t *testing.T, apiVersion, kind string) harness.Ref {
	t.Helper()
	return s.Apply(t, s.namespace, fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: %s}
spec:
  subject: {apiVersion: %s, kind: %s, selector: {matchLabels: {bound: to-it}}}
  address: {name: hello}
`, strings.ToLower(kind), apiVersion, kind))[0]
}

// bound makes a binding, and waits until new objects of the kind have its variable. Only its responses show that an API server calls a webhook with a new rule.
func (s *subjects) bound(t *testing.T, k bindable) harness.Ref {
	t.Helper()
	binding := s.bind(t, k.apiVersion, k.kind)
	harness.Eventually(t, "new objects of kind "+k.kind+" have the variable", func(ctx context.Context) error {
		object := k.object("probe")
		object.SetLabels(map[string]string{"bound": "to-it", include: "true"})
		got, err := s.of(k).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return fmt.Errorf("creating one: %w", err)
		}
		if !isGiven(got) {
			return fmt.Errorf("one that was created has not: %v", got.Object)
		}
		return nil
	})
	return binding
}

// bindable is a kind that has a place for variables.
type bindable struct {
	apiVersion, kind, resource string
	// spec has ENV where a container has its variables, or where they are.
	spec string
}

var (
	deployments = bindable{"apps/v1", "Deployment", "deployments", `{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {` + containers + `}}}`}
	cronJobs    = bindable{"batch/v1", "CronJob", "cronjobs", `{schedule: "@yearly", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, ` + containers + `}}}}}`}
	jobs        = bindable{"batch/v1", "Job", "jobs", `{suspend: true, template: {spec: {restartPolicy: Never, ` + containers + `}}}`}
	simple      = bindable{"samples.knative.dev/v1alpha1", "SimpleDeployment", "simpledeployments", `{image: example.com/i, replicas: 0ENV}`}
)

const containers = `containers: [{name: c, image: cENV}, {name: d, image: d}]`

// object is one of the kind, with the label by which bindings choose.
func (k bindable) object(name string) *unstructured.Unstructured { return k.objectWith(name, "") }

// objectWith has own variables, in YAML.
func (k bindable) objectWith(name, env string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte("spec: "+strings.Replace(k.spec, "ENV", env, 1)), &object.Object); err != nil {
		panic(err)
	}
	object.SetAPIVersion(k.apiVersion)
	object.SetKind(k.kind)
	object.SetName(name)
	object.SetLabels(map[string]string{"bound": "to-it"})
	return object
}

func (k bindable) gvr() schema.GroupVersionResource {
	return schema.FromAPIVersionAndKind(k.apiVersion, k.kind).GroupVersion().WithResource(k.resource)
}

func (s *subjects) of(k bindable) dynamic.ResourceInterface {
	return s.Dynamic.Resource(k.gvr()).Namespace(s.namespace)
}

func (s *subjects) ref(k bindable, name string) harness.Ref {
	return harness.Ref{Resource: k.gvr(), Namespace: s.namespace, Name: name}
}

// create returns the answer to a creation.
func (s *subjects) create(t *testing.T, k bindable, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := s.of(k).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating %s %s: %v", k.kind, object.GetName(), err)
	}
	return created
}

// isGiven reports whether every container has the variable, or the object itself.
func isGiven(object *unstructured.Unstructured) bool {
	text := specOf(object)
	return strings.Count(text, given) == max(1, strings.Count(text, `"image":`)-strings.Count(text, `"image":"example.com/i"`))
}

// specOf is the spec as JSON.
func specOf(object *unstructured.Unstructured) string {
	text, err := json.Marshal(object.Object["spec"])
	if err != nil {
		panic(err)
	}
	return string(text)
}
