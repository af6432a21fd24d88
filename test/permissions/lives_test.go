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
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

const (
	directory = "knative-samples-directory"
	target    = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
---
`
	published = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: it}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: it}
`
	deployment = `
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: one}
`
)

// lives has a function for each kind, which makes the operator use each of its permissions for that kind. added are the resources that
// the controller uses for the kinds that make kind has added.
var (
	lives []func(*testing.T, *harness.Env)
	added []schema.GroupVersionResource
)

var (
	_ = add(address)
	_ = add(deploy)
	_ = add(bind)
	_ = add(addressByHook)
)

// add adds the life of a kind. A variable of the kind's own file is initialized with the result.
func add(live func(*testing.T, *harness.Env), uses ...schema.GroupVersionResource) bool {
	lives, added = append(lives, live), append(added, uses...)
	return true
}

// isAdded reports whether a kind that was added has an account use such objects.
func isAdded(account string, g grant) bool {
	return account == "controller" && slices.ContainsFunc(added, func(resource schema.GroupVersionResource) bool {
		return resource.Group == g.group && resource.Resource == g.resource
	})
}

// bind is the life of AddressBindings, one for each kind of subject that comes with a permission.
func bind(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	env.Apply(t, ns, target+strings.Replace(published, "\n  publish: {alias: it}", "", 1))
	const template = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}"
	var refs []harness.Ref
	for kind, spec := range map[string]string{
		"apps/v1 Deployment":                            "selector: {matchLabels: {a: b}}, " + template,
		"apps/v1 StatefulSet":                           "serviceName: s, selector: {matchLabels: {a: b}}, " + template,
		"apps/v1 DaemonSet":                             "selector: {matchLabels: {a: b}}, " + template,
		"batch/v1 CronJob":                              "schedule: '@yearly', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}",
		"samples.knative.dev/v1alpha1 SimpleDeployment": "image: one, replicas: 0",
	} {
		apiVersion, kind, _ := strings.Cut(kind, " ")
		refs = append(refs, env.Apply(t, ns, fmt.Sprintf(`
apiVersion: %[1]s
kind: %[2]s
metadata: {name: it, labels: {bindings.knative.dev/include: "true"}}
spec: {%[3]s}
---
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: %[4]s}
spec: {subject: {apiVersion: %[1]s, kind: %[2]s, name: it}, address: {name: it}}
`, apiVersion, kind, spec, strings.ToLower(kind)))[1])
	}
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready)
	}

	withConflict(t, env, "addressbindings", func() {
		env.Patch(t, refs[0], `{"spec": {"address": {"name": "none"}}}`)
	})
	env.Await(t, refs[0], harness.HasCondition("Ready", "False", v1.ReasonAddressNotFound))
	for _, ref := range refs {
		env.Delete(t, ref)
	}
	for _, ref := range refs {
		env.Await(t, ref, harness.Deleted)
	}
}

// deploy is the life of a SimpleDeployment.
func deploy(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	var sd harness.Ref
	withConflict(t, env, "simpledeployments", func() { sd = env.Apply(t, ns, deployment)[0] })
	env.Await(t, sd, harness.Ready)

	// A Pod that has lost its label keeps its name, which the controller finds out when it creates another.
	selector := metav1.ListOptions{LabelSelector: samples.PodOwnerUIDLabelKey}
	pods, err := env.Kube.CoreV1().Pods(ns).List(t.Context(), selector)
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("listing the Pods: %v (%d)", err, len(pods.Items))
	}
	pod := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: ns, Name: pods.Items[0].Name}
	env.Patch(t, pod, `{"metadata": {"labels": {"`+samples.PodOwnerUIDLabelKey+`": null}}}`)
	harness.Eventually(t, "another Pod", func(ctx context.Context) error {
		pods, err := env.Kube.CoreV1().Pods(ns).List(ctx, selector)
		if err != nil || len(pods.Items) != 1 {
			return errors.Join(err, fmt.Errorf("there are %d", len(pods.Items)))
		}
		pod.Name = pods.Items[0].Name
		return nil
	})

	env.Patch(t, sd, `{"spec": {"replicas": 0}}`)
	env.Await(t, pod, harness.Deleted)
	env.Delete(t, sd)
	env.Await(t, sd, harness.Deleted)
}

// address is the life of an AddressableService.
func address(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	alias := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: directory, Name: "it"}
	refs := env.Apply(t, ns, target+published)
	service, as := refs[0], refs[1]
	env.Await(t, as, harness.Ready)

	// The target goes and comes twice: the second time the event is counted up.
	for range 2 {
		env.Delete(t, service)
		env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))
		service = env.Apply(t, ns, target)[0]
		env.Await(t, as, harness.Ready)
	}
	harness.Eventually(t, "an event that happened twice", func(ctx context.Context) error {
		events, err := env.Kube.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + v1.ReasonTargetNotFound})
		if err != nil {
			return fmt.Errorf("listing events: %w", err)
		}
		if len(events.Items) != 1 || events.Items[0].Count != 2 {
			return fmt.Errorf("the events are %v", events.Items)
		}
		return nil
	})

	env.Patch(t, alias, `{"spec": {"externalName": "elsewhere.example.com"}}`)
	env.Await(t, alias, func(o *unstructured.Unstructured) error {
		if strings.Contains(fmt.Sprint(o), "elsewhere") {
			return errors.New("it was not corrected")
		}
		return nil
	})

	withConflict(t, env, "addressableservices", func() { env.Delete(t, service) })
	env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
}
