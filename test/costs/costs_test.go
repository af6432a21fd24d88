/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestCosts_Create_IsOneWritePerObject counts the requests for a namespace until each object in it is Ready.
func TestCosts_Create_IsOneWritePerObject(t *testing.T) {
	t.Parallel()
	const objects = 50
	env := harness.Shared(t)
	ns := env.Namespace(t)
	createTarget(t, env, ns)
	mark := env.Mark(t)
	create(t, env, ns, objects, "")
	awaitAllReady(t, env, ns, objects)
	written := 0
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.InNamespace(ns))) {
		if e.Verb == "update" && e.Resource == "addressableservices" && e.Subresource == "status" && e.Code == http.StatusOK {
			written++
		} else {
			t.Errorf("want only successful writes of the status: %+v", e)
		}
	}
	if written != objects {
		t.Errorf("the controller wrote %d statuses, want %d", written, objects)
	}
}

func createTarget(t testing.TB, env *harness.Env, ns string) {
	t.Helper()
	target := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "target"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
	if _, err := env.Kube.CoreV1().Services(ns).Create(t.Context(), target, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the target: %v", err)
	}
}

// create makes objects as fast as one client can: one request after the other,
// without a rate limit. They get the default class when none is given.
func create(t testing.TB, env *harness.Env, ns string, count int, class string) []*v1.AddressableService {
	t.Helper()
	client := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	made := make([]*v1.AddressableService, 0, count)
	for i := range count {
		as := &v1.AddressableService{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("it-%d", i)},
			Spec:       v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"}},
		}
		if class != "" {
			as.Annotations = map[string]string{samples.ClassAnnotationKey: class}
		}
		as, err := client.Create(t.Context(), as, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating object %d: %v", i, err)
		}
		made = append(made, as)
	}
	return made
}

// awaitAllReady returns as soon as every object is Ready. It watches, because repeated lists would distort the measurement.
func awaitAllReady(t testing.TB, env *harness.Env, ns string, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	client := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing the objects: %v", err)
	}
	ready := map[string]bool{}
	note := func(as *v1.AddressableService) {
		if as.Status.GetCondition(v1.AddressableServiceConditionReady).IsTrue() {
			ready[as.Name] = true
		}
	}
	for i := range list.Items {
		note(&list.Items[i])
	}
	watch, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatalf("watching the objects: %v", err)
	}
	defer watch.Stop()
	for len(ready) < count {
		event, ok := <-watch.ResultChan()
		as, isObject := event.Object.(*v1.AddressableService)
		if !ok || !isObject {
			t.Fatalf("the watch ended with %d of %d objects Ready: %v", len(ready), count, event.Object)
		}
		note(as)
	}
}
