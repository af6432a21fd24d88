/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// maxChanges bounds how many states Throughout looks at. An object that changes more often than that is in a loop, which
// is most likely what the test is there to find.
const maxChanges = 1000

// Ref names one object.
type Ref struct {
	Resource        schema.GroupVersionResource
	Namespace, Name string
}

// String is resource, namespace and name.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Resource.Resource + " " + r.Name
	}
	return r.Resource.Resource + " " + r.Namespace + "/" + r.Name
}

// Condition looks at an object, which is nil if it does not exist, and says as an error in which way it is not as wanted.
type Condition func(*unstructured.Unstructured) error

// Exists is the condition of an object that exists.
func Exists(o *unstructured.Unstructured) error {
	if o == nil {
		return errors.New("it does not exist")
	}
	return nil
}

// Gone is the condition of an object that does not exist.
func Gone(o *unstructured.Unstructured) error {
	if o != nil {
		return errors.New("it exists")
	}
	return nil
}

// Ready is the condition of an object whose Ready condition is True for its present generation.
func Ready(o *unstructured.Unstructured) error { return HasCondition("Ready", "True", "")(o) }

// HasCondition is the condition of an object with an entry in status.conditions of this type and status, for its present
// generation, and with this reason unless that is empty.
func HasCondition(kind, status, reason string) Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		observed, found, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		if found && observed != o.GetGeneration() {
			return fmt.Errorf("its status is of generation %d, and it is at %d", observed, o.GetGeneration())
		}
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, entry := range list {
			c, _ := entry.(map[string]any)
			if c["type"] != kind {
				continue
			}
			if c["status"] != status || reason != "" && c["reason"] != reason {
				return fmt.Errorf("its condition %s is %v, reason %v: %v", kind, c["status"], c["reason"], c["message"])
			}
			return nil
		}
		return fmt.Errorf("it has no condition %s", kind)
	}
}

// As makes a typed object of one that Await returned.
func As[O any](t testing.TB, object *unstructured.Unstructured) *O {
	t.Helper()
	typed := new(O)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
		t.Fatalf("reading a %s as a %T: %v", object.GetKind(), typed, err)
	}
	return typed
}

// Await waits until an object meets every condition at the same time, and returns it as it is then, or nil if it does not
// exist. It watches, so no state in between is missed. After the Deadline the test fails with the object's last state.
func (e *Env) Await(t testing.TB, ref Ref, conditions ...Condition) *unstructured.Unstructured {
	t.Helper()
	return e.AwaitWithin(t, Deadline, ref, conditions...)
}

// AwaitWithin is Await with a deadline of one's own.
func (e *Env) AwaitWithin(t testing.TB, within time.Duration, ref Ref, conditions ...Condition) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var last *unstructured.Unstructured
	unmet := errors.New("it was not seen at all")
	for ctx.Err() == nil {
		err := e.follow(ctx, ref, func(o *unstructured.Unstructured) bool {
			last, unmet = o, all(o, conditions)
			return unmet == nil
		})
		if err == nil {
			return last
		}
		// Watches end now and then, and more often when a test cuts connections or restarts the server.
		if ctx.Err() == nil {
			pause, stop := context.WithTimeout(ctx, firstPause)
			<-pause.Done()
			stop()
		}
	}
	t.Fatalf("waited %v for %s, but %v; last seen:\n%s", within, ref, unmet, text(last))
	return nil
}

func all(o *unstructured.Unstructured, conditions []Condition) error {
	var unmet []error
	for _, c := range conditions {
		unmet = append(unmet, c(o))
	}
	return errors.Join(unmet...)
}

// follow shows an object's present state and every later one to seen, until that returns true. Its error is that of the
// list or the watch, or that the watch has ended.
func (e *Env) follow(ctx context.Context, ref Ref, seen func(*unstructured.Unstructured) bool) error {
	client := e.resource(ref)
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String()}
	list, err := client.List(ctx, options)
	// A kind that is not there (yet) has no objects.
	if apierrors.IsNotFound(err) {
		if seen(nil) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	var present *unstructured.Unstructured
	if len(list.Items) > 0 {
		present = &list.Items[0]
	}
	if seen(present) {
		return nil
	}
	options.ResourceVersion = list.GetResourceVersion()
	events, err := client.Watch(ctx, options)
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		if event.Type == watch.Deleted {
			object = nil
		}
		if seen(object) {
			return nil
		}
	}
	return errors.New("the watch has ended")
}

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

func (e *Env) resource(ref Ref) dynamic.ResourceInterface {
	if ref.Namespace == "" {
		return e.Dynamic.Resource(ref.Resource)
	}
	return e.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace)
}

func revision(o *unstructured.Unstructured) string {
	if o == nil {
		return ""
	}
	return o.GetResourceVersion()
}

func text(o *unstructured.Unstructured) string {
	if o == nil {
		return "(it does not exist)"
	}
	o = o.DeepCopy()
	o.SetManagedFields(nil)
	content, err := yaml.Marshal(o.Object)
	if err != nil {
		return err.Error()
	}
	return string(content)
}
