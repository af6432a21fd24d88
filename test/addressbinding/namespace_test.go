//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// TestNamespaceDeleted_ObjectsOfEachKind_AreDeletedWithTheirAlias has a separate environment, because the deletion of a namespace waits for those of
// other tests.
func TestNamespaceDeleted_ObjectsOfEachKind_AreDeletedWithTheirAlias(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Own(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	w.Await(t, w.bind(t, "b", byName), harness.Ready)
	for _, ref := range w.Apply(t, w.ns, fixtures.Target+`---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: published}
spec: {ref: {apiVersion: v1, kind: Service, name: target}, publish: {alias: published}}
---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: one}
`)[1:] {
		w.Await(t, ref, harness.Ready)
	}
	w.Await(t, d, has(address))
	namespace := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: w.ns}
	w.Delete(t, namespace)
	w.Await(t, namespace, harness.Deleted)
	w.Await(t, harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: "knative-samples-directory", Name: "published"}, harness.Deleted)
}
