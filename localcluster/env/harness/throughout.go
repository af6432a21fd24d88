/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
)

// maxChanges bounds how many states Throughout looks at. An object that changes more often than that is in a loop, which most likely the test should find.
const maxChanges = 1000

// Throughout calls during, and then looks at every state that the object has had from just before the call until just
// after it; each has to meet the condition. It needs no pause: what during waits for is the end of what is looked at. The
// test fails with the first state that does not.
func (e *Env) Throughout(t testing.TB, ref Ref, holds Condition, during func()) {
	t.Helper()
	before, version := e.state(t, ref)
	if err := holds(before); err != nil {
		t.Fatalf("%s, to begin with: %v\n%s", ref, err, text(before))
	}
	during()
	after, _ := e.state(t, ref)
	if revision(before) == revision(after) {
		return
	}
	events, err := e.resource(ref).Watch(t.Context(), metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String(),
		ResourceVersion: version,
	})
	if err != nil {
		t.Fatalf("watching %s from before: %v", ref, err)
	}
	defer events.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	for range maxChanges {
		var event watch.Event
		select {
		case event = <-events.ResultChan():
		case <-ctx.Done():
			t.Fatalf("watching %s from before: its last state did not show up within %v", ref, Deadline)
		}
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Error {
			t.Fatalf("watching %s from before: %v", ref, apierrors.FromObject(event.Object))
		}
		current := object
		if event.Type == watch.Deleted {
			current = nil
		}
		if err := holds(current); err != nil {
			t.Fatalf("%s, in between: %v\n%s", ref, err, text(object))
		}
		if revision(current) == revision(after) {
			return
		}
	}
	t.Fatalf("%s has changed more than %d times; last state:\n%s", ref, maxChanges, text(after))
}

// Unchanged returns the condition that an object is never written to: it exists at the resource version that it has now.
func (e *Env) Unchanged(t testing.TB, ref Ref) Condition {
	t.Helper()
	before, _ := e.state(t, ref)
	return func(o *unstructured.Unstructured) error {
		if revision(o) != revision(before) {
			return fmt.Errorf("it has been written to: its resource version was %q and is %q", revision(before), revision(o))
		}
		return nil
	}
}

// state returns an object, or nil, and a resource version from which a watch shows what comes after it.
func (e *Env) state(t testing.TB, ref Ref) (*unstructured.Unstructured, string) {
	t.Helper()
	list, err := e.resource(ref).List(t.Context(), metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String(),
	})
	if err != nil {
		t.Fatalf("reading %s: %v", ref, err)
	}
	if len(list.Items) == 0 {
		return nil, list.GetResourceVersion()
	}
	return &list.Items[0], list.GetResourceVersion()
}
