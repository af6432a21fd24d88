//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestDirectory_Missing_ConditionReportsIt(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	env.ExpectErrors(t, "publishing alias knative-samples-directory/") // the permission is deleted with the directory
	ns := env.Namespace(t)
	namespaces := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: directory}
	env.Delete(t, namespaces)
	env.Await(t, namespaces, harness.Deleted)

	as := env.Apply(t, ns, manifests)[1]
	env.Await(t, as, harness.HasCondition("Published", "False", v1.ReasonDirectoryNotFound))
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)

	// It is recreated, with the permission to write in it.
	as = env.Apply(t, ns, manifests)[1]
	env.Await(t, as, harness.HasCondition("Published", "False", v1.ReasonDirectoryNotFound))
	config, err := filepath.Abs("../../config")
	if err != nil {
		t.Fatal(err)
	}
	env.Kubectl(t, "apply", "-f", config)
	env.Await(t, as, harness.Ready)
	env.Await(t, alias, harness.Exists)
}

func TestDirectory_Terminating_ConditionReportsIt(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	ns := env.Namespace(t)
	published := env.Apply(t, ns, manifests)[1]
	env.Await(t, published, harness.Ready)

	// Something with a finalizer keeps the directory from going.
	keeper := env.Apply(t, directory, `
apiVersion: v1
kind: ConfigMap
metadata: {name: keeper, finalizers: [example.com/keep]}
`)[0]
	namespace := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: directory}
	env.Delete(t, namespace)
	env.Await(t, alias, harness.Deleted)
	env.Await(t, published, harness.HasCondition("Published", "False", v1.ReasonDirectoryTerminating))
	late := env.Apply(t, ns, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: late}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: late}
`)[0]
	env.Await(t, late, harness.HasCondition("Published", "False", v1.ReasonDirectoryTerminating))

	for _, ref := range []harness.Ref{published, late} {
		env.Delete(t, ref)
		env.Await(t, ref, harness.Deleted)
	}
	env.Patch(t, keeper, `{"metadata": {"finalizers": null}}`)
	env.Await(t, namespace, harness.Deleted)
}
