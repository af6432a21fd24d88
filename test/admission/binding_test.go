/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// lenses are of a kind whose plural knative.dev/pkg guesses wrong, and whose objects may have anything in their spec.
func lenses(group string) bindable {
	return bindable{group + "/v1", "Lens", "lenses", `{template: {spec: {` + containers + `}}}`}
}

// define installs the kind as its owner does: with the role that lets it be bound.
func (s *subjects) define(t *testing.T) bindable {
	t.Helper()
	group := s.namespace + ".example.com"
	s.Define(t, strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lenses.GROUP, labels: {duck.knative.dev/podspecable: "true"}}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Lens, plural: lenses, singular: lens}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: GROUP, labels: {duck.knative.dev/podspecable: "true"}}
rules:
- {apiGroups: [GROUP], resources: [lenses], verbs: [list, watch, patch]}
`, "GROUP", group))
	return lenses(group)
}

func TestBindingWebhook_SubjectCreatedAfterTheBinding_HasItsVariable(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, kind := range map[string]func(*testing.T, *subjects) bindable{
		"Deployment":                   func(*testing.T, *subjects) bindable { return deployments },
		"CronJob":                      func(*testing.T, *subjects) bindable { return cronJobs },
		"Job":                          func(*testing.T, *subjects) bindable { return jobs },
		"SimpleDeployment":             func(*testing.T, *subjects) bindable { return simple },
		"a kind of the cluster's own":  func(t *testing.T, s *subjects) bindable { t.Helper(); return s.define(t) },
		"a kind that is defined later": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubjects(t, env, include)
			var k bindable
			if kind != nil {
				k = kind(t, s)
			} else {
				k = lenses(s.namespace + ".example.com")
				s.Await(t, s.bind(t, k.apiVersion, k.kind), harness.HasCondition("SubjectsBound", "False", "SubjectKindNotFound"))
				s.define(t)
			}
			binding := s.bound(t, k)
			mark := env.Mark(t)
			created := s.create(t, k, k.object("it"))
			if !isGiven(created) {
				t.Errorf("the answer to the creation lacks the variable: %s", specOf(created))
			}
			s.Await(t, binding, harness.Ready, boundTo(1))
			if patches := mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.Matching("*", k.resource).And(harness.InNamespace(s.namespace))), harness.Writes); len(patches) > 0 {
				t.Errorf("the controller wrote to it, too: %v", patches)
			}
		})
	}
}

func TestBindingWebhook_SubjectsUpdated_AreMutated(t *testing.T) {
	t.Parallel()
	s := newSubjects(t, harness.Shared(t), include)
	s.bound(t, deployments)

	// Who replaces the whole object does not know of the variable.
	created := s.create(t, deployments, deployments.object("replaced"))
	object := deployments.object("replaced")
	object.SetResourceVersion(created.GetResourceVersion())
	replaced, err := s.of(deployments).Update(t.Context(), object, metav1.UpdateOptions{})
	if err != nil || !isGiven(replaced) || replaced.GetGeneration() != created.GetGeneration() {
		t.Errorf("replaced by one without the variable: %v\n%v", err, replaced)
	}

	s.create(t, deployments, deployments.object("leaving"))
	left, err := s.of(deployments).Patch(t.Context(), "leaving", types.MergePatchType, []byte(`{"metadata": {"labels": {"bound": null}}}`), metav1.PatchOptions{})
	if err != nil || strings.Contains(specOf(left), "env") {
		t.Errorf("after it left the selector: %v\n%v", err, left)
	}

	own := s.create(t, deployments, deployments.objectWith("own", ", env: [{name: K_ADDRESS, value: mine}]"))
	if text := specOf(own); strings.Count(text, given) != 1 || !strings.Contains(text, `{"name":"K_ADDRESS","value":"mine"}`) {
		t.Errorf("one container has its own variable of that name, and it became %s", text)
	}
}

func TestBindingWebhook_Labels_DecideOptIn(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, tc := range map[string]struct {
		namespace, object []string
		want              bool
	}{
		"none":                          {},
		"the namespace":                 {namespace: []string{include}, want: true},
		"the object":                    {object: []string{include}, want: true},
		"both":                          {namespace: []string{include}, object: []string{include}, want: true},
		"the namespace, not the object": {namespace: []string{include}, object: []string{exclude}},
		"the object, not the namespace": {namespace: []string{exclude}, object: []string{include}},
		"the namespace, both ways":      {namespace: []string{include, exclude}},
		"the object, both ways":         {object: []string{include, exclude}},
		"none of the webhooks":          {namespace: []string{include, "webhooks.knative.dev/exclude"}, object: []string{include}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubjects(t, env)
			// While the namespace has neither label, an object that opts in shows that the webhook knows the binding.
			s.bound(t, deployments)
			s.Patch(t, harness.Ref{Resource: schemaNamespaces, Name: s.namespace}, labeled(tc.namespace...))
			await := func(want bool, labels ...string) {
				object := deployments.object("it")
				own := object.GetLabels()
				for _, label := range labels {
					own[label] = "true"
				}
				object.SetLabels(own)
				harness.Eventually(t, fmt.Sprintf("it is %t that an object with labels %v has the variable", want, labels), func(ctx context.Context) error {
					got, err := s.of(deployments).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
					if err == nil && isGiven(got) != want {
						err = fmt.Errorf("it is %s", specOf(got))
					}
					return err
				})
			}
			// The API server learns of labels of namespaces with its own watch; these requests show that it has.
			if slices.Equal(tc.namespace, []string{include}) {
				await(true)
			} else if len(tc.namespace) > 0 {
				await(false, include)
			}
			await(tc.want, tc.object...)
		})
	}
}

func boundTo(subjects int64) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if bound, _, _ := unstructured.NestedInt64(o.Object, "status", "subjects", "bound"); bound != subjects {
			return fmt.Errorf("%d subjects are bound, want %d", bound, subjects)
		}
		return nil
	}
}

var schemaNamespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
