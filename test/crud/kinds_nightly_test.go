//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// A client that lives for long decides from the kinds that are served now.
func TestKind_ChangesDuringTheLifeOfTheClient_IsFoundAgain(t *testing.T) {
	s := newScene(t)
	// The API server publishes a kind a moment after it serves it.
	eventually := func(op crud.Operation, want crud.Outcome, class crud.Class) {
		t.Helper()
		harness.Eventually(t, fmt.Sprintf("%s: %s %s", op, want, class), func(ctx context.Context) error {
			if result, err := s.client.Run(ctx, op); result.Outcome != want || crud.ClassOf(err) != class {
				return fmt.Errorf("got %s, %w", result.Outcome, err)
			}
			return nil
		})
	}
	first, second := "one-"+s.ns+".example.com", "two-"+s.ns+".example.com"
	object := func(namespace string) crud.Operation {
		return crud.CreateOrUpdate(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": first + "/v1", "kind": "Changing", "metadata": map[string]any{"name": "a", "namespace": namespace},
		}})
	}
	s.defineChanging(first, apiextensionsv1.NamespaceScoped)
	eventually(object(s.ns), crud.Created, "")
	ofStatus := onStatus(crud.MergePatch(s.ref("Changing", "a"), `{"status":{"phase":"x"}}`))
	s.fails(ofStatus, crud.SubresourceNotServed)
	s.env.ChangeCRD(t, schema.GroupResource{Group: first, Resource: "changings"}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	})
	eventually(ofStatus, crud.StatusUpdated, "")

	labels := crud.MergePatch(s.ref("Changing", "a"), `{"metadata":{"labels":{"a":"b"}}}`)
	s.defineChanging(second, apiextensionsv1.NamespaceScoped)
	eventually(crud.MergePatch(crud.Ref{APIVersion: second + "/v1", Kind: "Changing", Namespace: s.ns, Name: "none"}, `{"metadata":{"labels":{"a":"b"}}}`), crud.Failed, crud.NotFound)
	s.fails(labels, crud.KindAmbiguous)
	s.undefineChanging(second)
	eventually(labels, crud.Updated, "")

	s.undefineChanging(first)
	s.defineChanging(first, apiextensionsv1.ClusterScoped)
	harness.Eventually(t, "the kind has no namespaces", func(ctx context.Context) error {
		_, err := s.env.Dynamic.Resource(schema.GroupVersionResource{Group: first, Version: "v1", Resource: "changings"}).List(ctx, metav1.ListOptions{})
		return err
	})
	eventually(object(""), crud.Created, "")
	eventually(object(s.ns), crud.Failed, crud.ScopeMismatch)
	// The version that the client has found is not served anymore, and the operation names none.
	s.env.ChangeCRD(t, schema.GroupResource{Group: first, Resource: "changings"}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		next := crd.Spec.Versions[0].DeepCopy()
		next.Name, next.Storage = "v2", true
		crd.Spec.Versions[0].Storage, crd.Spec.Versions[0].Served = false, false
		crd.Spec.Versions = append(crd.Spec.Versions, *next)
	})
	harness.Eventually(t, "v2 is served, and v1 is not", func(ctx context.Context) error {
		_, err := s.env.Dynamic.Resource(schema.GroupVersionResource{Group: first, Version: "v2", Resource: "changings"}).List(ctx, metav1.ListOptions{})
		if _, gone := s.env.Dynamic.Resource(schema.GroupVersionResource{Group: first, Version: "v1", Resource: "changings"}).List(ctx, metav1.ListOptions{}); err == nil && gone == nil {
			err = errors.New("v1 is")
		}
		return err
	})
	eventually(crud.MergePatch(crud.Ref{Kind: "Changing", Name: "a"}, `{"metadata":{"labels":{"a":"c"}}}`), crud.Updated, "")
}

// defineChanging defines the kind in a group, until the test ends.
func (s *scene) defineChanging(group string, scope apiextensionsv1.ResourceScope) {
	s.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(manifest), &crd.Spec); err != nil {
		s.Fatal(err)
	}
	crd.Name, crd.Spec.Group, crd.Spec.Scope = "changings."+group, group, scope
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Changing", Plural: "changings", Singular: "changing"}
	if _, err := s.env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Create(s.Context(), crd, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.deleteChanging(group) })
}

func (s *scene) deleteChanging(group string) {
	name := "changings." + group
	err := s.env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Delete(context.WithoutCancel(s.Context()), name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Error(err)
	}
}

// undefineChanging deletes the definition, and waits until it does not exist.
func (s *scene) undefineChanging(group string) {
	s.Helper()
	s.deleteChanging(group)
	harness.Eventually(s, "the kind of "+group+" does not exist", func(ctx context.Context) error {
		if _, err := s.env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, "changings."+group, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it exists: %w", errors.Join(err))
		}
		return nil
	})
}
