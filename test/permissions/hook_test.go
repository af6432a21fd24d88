/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// addressByHook is the life of an AddressableService that a hook of the process of hooks creates, and creates again after a deletion that a
// finalizer delays, which an event reports. Another hook keeps its labels as those of the Service.
func addressByHook(t *testing.T, env *harness.Env) {
	t.Helper()
	const service = `
apiVersion: v1
kind: Service
metadata: {name: it, labels: {samples.knative.dev/addressable: "true", app.kubernetes.io/name: web, app.kubernetes.io/instance: web}}
spec: {ports: [{name: http, port: 80}]}
`
	ns := env.Namespace(t)
	owner := env.Apply(t, ns, service)[0]
	created := owner
	created.Resource = v1.SchemeGroupVersion.WithResource("addressableservices")
	first := env.Await(t, created, harness.Ready, named("web")).GetUID()
	env.Patch(t, owner, `{"metadata": {"labels": {"app.kubernetes.io/name": "shop"}}}`)
	env.Await(t, created, named("shop"))
	env.Patch(t, created, `{"metadata": {"finalizers": ["hooks.example.com/hold"]}}`)
	env.Delete(t, owner)
	env.Await(t, created, func(o *unstructured.Unstructured) error {
		if o == nil || o.GetDeletionTimestamp() == nil {
			return errors.New("the garbage collector has not deleted it")
		}
		return nil
	})
	env.Apply(t, ns, service)
	harness.Eventually(t, "an event reports the finalizer, and is counted", func(ctx context.Context) error {
		events, err := env.Kube.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + hook.ReasonDeletionDelayed})
		if err == nil && !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Count > 1 && e.InvolvedObject.UID == first }) {
			err = fmt.Errorf("there are %v", events.Items)
		}
		return err
	})
	env.Patch(t, created, `{"metadata": {"finalizers": null}}`)
	env.Await(t, created, harness.Ready, func(o *unstructured.Unstructured) error {
		if o != nil && o.GetUID() == first {
			return errors.New("it is the first")
		}
		return nil
	})
}

// named is the condition that an object has the name of an application.
func named(want string) func(*unstructured.Unstructured) error {
	return func(o *unstructured.Unstructured) error {
		if o == nil || o.GetLabels()["app.kubernetes.io/name"] != want || o.GetLabels()["app.kubernetes.io/instance"] != "" {
			return fmt.Errorf("want the name %s alone", want)
		}
		return nil
	}
}
