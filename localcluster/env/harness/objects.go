/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

var errStillThere = errors.New("it still exists")

// fieldManager owns the fields that tests apply.
const fieldManager = "harness"

// Namespace makes a namespace for a test and returns its name. It is deleted when the test ends, without waiting until
// that is done. Its contents are logged if the test has failed.
func (e *Env) Namespace(t testing.TB) string {
	t.Helper()
	namespace, err := e.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: namespacePrefix(t.Name())},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace for the test: %v", err)
	}
	e.mu.Lock()
	e.namespaces = append(e.namespaces, namespace.Name)
	e.mu.Unlock()
	t.Cleanup(func() {
		if t.Failed() {
			e.Dump(t, namespace.Name)
		}
		if t == e.test {
			return // the environment is about to be searched and stopped
		}
		// The context of the test is over by now.
		err := e.Kube.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("deleting the namespace of the test: %v", err)
		}
	})
	return namespace.Name
}

// namespacePrefix makes a test's name fit for a namespace's, with room for what the API server adds.
func namespacePrefix(test string) string {
	prefix := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '-'
		}
	}, strings.TrimPrefix(test, "Test"))
	const longest = 40
	return "t-" + strings.Trim(prefix[:min(len(prefix), longest)], "-") + "-"
}

// Apply applies manifests, as `kubectl apply --server-side --force-conflicts` does, and returns what they name. Objects
// that name no namespace go into the given one. Unknown fields are errors.
func (e *Env) Apply(t testing.TB, namespace, manifests string) []Ref {
	t.Helper()
	refs, err := e.TryApply(t, namespace, manifests)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// Define is Apply for cluster-scoped objects. The end of the test deletes them and waits for that: a CRD that is created again during its
// deletion is not served.
func (e *Env) Define(t testing.TB, manifests string) []Ref {
	t.Helper()
	refs := e.Apply(t, "", manifests)
	for _, ref := range refs {
		t.Cleanup(func() {
			// The context of the test is over by now.
			ctx, cancel := context.WithTimeout(context.Background(), Deadline)
			defer cancel()
			if err := e.resource(ref).Delete(ctx, ref.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("deleting %s: %v", ref, err)
			}
			if err := eventually(ctx, Deadline, func(ctx context.Context) error {
				_, err := e.resource(ref).Get(ctx, ref.Name, metav1.GetOptions{})
				switch {
				case err == nil:
					return errStillThere
				case apierrors.IsNotFound(err):
					return nil
				default:
					return fmt.Errorf("reading it: %w", err)
				}
			}); err != nil {
				t.Errorf("%s does not go: %v", ref, err)
			}
		})
	}
	return refs
}

// TryApply is Apply for what the API server may reject; it returns the rejection, which wraps the API server's error.
func (e *Env) TryApply(t testing.TB, namespace, manifests string) ([]Ref, error) {
	t.Helper()
	objects, err := manifest.Parse([]byte(manifests))
	if err != nil {
		t.Fatalf("reading the manifests of the test: %v", err)
	}
	var refs []Ref
	for _, object := range objects {
		ref := e.Ref(t, namespace, object)
		object.SetNamespace(ref.Namespace)
		force := true
		content, err := object.MarshalJSON()
		if err != nil {
			t.Fatalf("writing the %s: %v", ref, err)
		}
		_, err = e.resource(ref).Patch(t.Context(), ref.Name, types.ApplyPatchType, content, metav1.PatchOptions{
			FieldManager: fieldManager, Force: &force, FieldValidation: metav1.FieldValidationStrict,
		})
		if err != nil {
			return refs, fmt.Errorf("applying %s: %w", ref, err)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// Ref finds the resource of an object's kind. A namespaced object without a namespace is taken to be in the given one.
func (e *Env) Ref(t testing.TB, namespace string, object *unstructured.Unstructured) Ref {
	t.Helper()
	kind := object.GroupVersionKind()
	var mapping *meta.RESTMapping
	// A kind that was defined a moment ago is served before discovery lists it.
	Eventually(t, "the resource of "+kind.String(), func(context.Context) (err error) {
		if mapping, err = e.mapper.RESTMapping(kind.GroupKind(), kind.Version); meta.IsNoMatchError(err) {
			e.mapper.Reset()
		}
		return err
	})
	ref := Ref{Resource: mapping.Resource, Name: object.GetName()}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if ref.Namespace = object.GetNamespace(); ref.Namespace == "" {
			ref.Namespace = namespace
		}
	}
	return ref
}

// Delete deletes an object and does not wait until it is deleted.
func (e *Env) Delete(t testing.TB, ref Ref) {
	t.Helper()
	if err := e.resource(ref).Delete(t.Context(), ref.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting %s: %v", ref, err)
	}
}

// Patch merges a JSON text into an object.
func (e *Env) Patch(t testing.TB, ref Ref, patch string, subresources ...string) {
	t.Helper()
	_, err := e.resource(ref).Patch(t.Context(), ref.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}, subresources...)
	if err != nil {
		t.Fatalf("patching %s: %v", ref, err)
	}
}
