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

// AwaitWithin is Await with another deadline.
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
	// A kind that does not exist (yet) has no objects.
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

// AwaitAdmission waits until a new object of a manifest would meet every condition, and creates none. The API server calls a webhook, and with the
// latest rules, some time after its configuration is written, which only its answers show.
func (e *Env) AwaitAdmission(t testing.TB, namespace, manifest string, conditions ...Condition) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		t.Fatalf("reading the manifest of a new object: %v", err)
	}
	ref := e.Ref(t, namespace, object)
	Eventually(t, "a new "+ref.String()+" is admitted as wanted", func(ctx context.Context) error {
		answer, err := e.resource(ref).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return fmt.Errorf("creating it: %w", err)
		}
		for _, condition := range conditions {
			err = errors.Join(err, condition(answer))
		}
		return err
	})
}
