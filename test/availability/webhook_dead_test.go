//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const others = `
apiVersion: v1
kind: ConfigMap
metadata: {name: others}
---
apiVersion: v1
kind: Secret
metadata: {name: others}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: others}
spec:
  selector: {matchLabels: {app: others}}
  template:
    metadata: {labels: {app: others}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
`

// TestWebhook_NoneRuns_DocumentedRequestsFail is one story: the requests that succeed without it, those that do not, and the recovery once it runs again.
func TestWebhook_NoneRuns_DocumentedRequestsFail(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1))
	ns := env.Namespace(t)
	published := strings.Replace(subject, "name: subject", "name: published", 1) + "  publish: {alias: published}\n"
	refs := env.Apply(t, ns, fixtures.Target+"---"+subject+"---"+published)
	service, as, withAlias := refs[0], refs[1], refs[2]
	env.Await(t, as, harness.Ready)
	env.Await(t, withAlias, harness.Ready)
	doomed := env.Namespace(t)
	env.Await(t, env.Apply(t, doomed, fixtures.Target+"---"+strings.ReplaceAll(published, "published", "doomed"))[1], harness.Ready)
	for _, name := range []string{"webhook", "webhook-1"} {
		env.Process(t, name).Kill(t)
	}

	t.Run("WhatIsNotOursIsNotAffected", func(t *testing.T) {
		for _, namespace := range []string{ns, metav1.NamespaceDefault, env.SystemNamespace} {
			env.Apply(t, namespace, strings.Replace(others, "kind: Deployment", "kind: Deployment\n# in "+namespace, 1))
		}
	})
	t.Run("OursIsRead", func(t *testing.T) {
		list, err := fixtures.Client(env).SamplesV1().AddressableServices(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Errorf("listing: %v (%d objects)", err, len(list.Items))
		}
	})
	t.Run("WritesOfOursFailAndSayWhy", func(t *testing.T) {
		changed := strings.Replace(subject, "name: target", "name: other", 1)
		for what, manifest := range map[string]string{"create": strings.Replace(subject, "subject", "more", 1), "change": changed} {
			_, err := env.TryApply(t, ns, manifest)
			if err == nil || !strings.Contains(err.Error(), "failed calling webhook \""+webhook.DefaultingName+"\"") {
				t.Errorf("%s: got error %v, want one that names the webhook", what, err)
			}
		}
	})
	t.Run("TheControllerWritesStatus", func(t *testing.T) {
		env.Delete(t, service)
		env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))
	})
	t.Run("WhatIsDeletedGoes", func(t *testing.T) {
		env.Delete(t, withAlias)
		env.Await(t, withAlias, harness.Deleted)
		env.Await(t, harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: directory, Name: "published"}, harness.Deleted)
	})
	t.Run("ANamespaceWithOursGoes", func(t *testing.T) {
		namespace := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: doomed}
		env.Delete(t, namespace)
		env.AwaitWithin(t, patience, namespace, harness.Deleted)
	})
	t.Run("AllIsAsBeforeOnceItIsBack", func(t *testing.T) {
		env.Process(t, "webhook").Start(t)
		refs := env.Apply(t, ns, fixtures.Target+"---"+strings.Replace(subject, "subject", "more", 1))
		env.Await(t, refs[1], harness.Ready)
		env.Await(t, as, harness.Ready)
		if _, err := env.TryApply(t, ns, strings.Replace(subject, "name: target", "name: Target", 1)); err == nil || !strings.Contains(err.Error(), "spec.ref.name") {
			t.Errorf("a bad object: got error %v, want one that names spec.ref.name", err)
		}
	})
}
