/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestWatch_AtV1alpha1_DeliversOneEventOfAHiddenChange(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	create(t, env, ns, foreign("subject"))
	ref := at("v1alpha1", ns, "subject")
	before := get(t, env, ref)
	events, err := client(env, ref).Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	env.Patch(t, at(hub, ns, "subject"), `{"spec": {"path": "/new"}}`)
	// Nothing else comes before the end.
	env.Delete(t, at(hub, ns, "subject"))

	changed := next(t, events, watch.Modified)
	next(t, events, watch.Deleted)
	if changed.GetGeneration() != before.GetGeneration()+1 || changed.GetResourceVersion() == before.GetResourceVersion() ||
		changed.GetAnnotations()[fixtures.Stash] == before.GetAnnotations()[fixtures.Stash] {
		t.Errorf("generation, resource version and annotation are %d, %s and %s, each should have changed",
			changed.GetGeneration(), changed.GetResourceVersion(), changed.GetAnnotations()[fixtures.Stash])
	}
	for _, object := range []*unstructured.Unstructured{before, changed} {
		object.SetGeneration(0)
		object.SetResourceVersion("")
		object.SetManagedFields(nil)
		annotations := object.GetAnnotations()
		delete(annotations, fixtures.Stash)
		object.SetAnnotations(annotations)
	}
	if diff := cmp.Diff(before.Object, changed.Object); diff != "" {
		t.Errorf("more has changed (-before +after):\n%s", diff)
	}
}

// next is the object of the next event, which has to be of a type.
func next(t *testing.T, events watch.Interface, want watch.EventType) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Deadline)
	defer cancel()
	select {
	case event := <-events.ResultChan():
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type != want {
			t.Fatalf("the next event is %s of %v, want %s", event.Type, event.Object, want)
		}
		return object
	case <-ctx.Done():
		t.Fatalf("no event came within %v", harness.Deadline)
		return nil
	}
}
