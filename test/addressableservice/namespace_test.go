//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// The namespace's deletion removes the target before most of its objects. The controller knows that they are about to be deleted as
// well: Kubernetes begins 5 s after the namespace got its deletionTimestamp.
//
// It has a separate environment, for the deletion of a namespace waits for those of the other tests.
func TestNamespaceIsDeleted_ManyObjects_NoStatusUpdate(t *testing.T) {
	t.Parallel()
	const objects = 200
	env := harness.Own(t)
	ns := env.Namespace(t)
	var manifests []string
	for i := range objects {
		manifests = append(manifests, object(fmt.Sprintf("it-%d", i), toService("target")))
	}
	env.Apply(t, ns, service("target", onePort))
	refs := env.Apply(t, ns, strings.Join(manifests, and))
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready)
	}

	mark := env.Mark(t)
	namespace := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: ns}
	env.Delete(t, namespace)
	env.Await(t, namespace, harness.Deleted)
	ofObjects := func(e harness.AuditEntry) bool { return e.Namespace == ns && e.Resource == "addressableservices" }
	updates, patches := 0, 0
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), ofObjects) {
		if e.Verb == "patch" {
			patches++
		} else {
			updates++
		}
	}
	if updates != 0 || patches != objects {
		t.Errorf("the controller sent %d updates and %d patches, want none and one for each finalizer", updates, patches)
	}
}

// Children, subjects, targets and owners are deleted in any order, and events arrive after what they are about is deleted.
func TestNamespaceIsDeleted_ObjectsOfEachKind_NoErrorAndNoRepeatedFailure(t *testing.T) {
	t.Parallel()
	const sets = 50
	env := harness.Own(t)
	ns := env.Namespace(t)
	suffix := ns[strings.LastIndex(ns, "-")+1:]
	manifest := service("target", onePort)
	for i := range sets {
		manifest += and + strings.NewReplacer("NAME", fmt.Sprintf("it-%d", i), "ALIAS", fmt.Sprintf("it-%d-%s", i, suffix)).Replace(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: NAME}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: ALIAS}
---`+fixtures.Bound+`---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: NAME}
spec: {image: first, replicas: 2}
`)
	}
	for _, ref := range env.Apply(t, ns, manifest) {
		if ref.Resource.Group == samples.GroupName {
			env.AwaitWithin(t, 2*time.Minute, ref, harness.Ready)
		}
	}

	mark := env.Mark(t)
	namespace := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: ns}
	env.Delete(t, namespace)
	env.AwaitWithin(t, 2*time.Minute, namespace, harness.Deleted)
	for i := range sets {
		alias := harness.Ref{
			Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: "knative-samples-directory", Name: fmt.Sprintf("it-%d-%s", i, suffix),
		}
		env.Await(t, alias, harness.Deleted)
	}
	failures := map[string]int{}
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller"))) {
		if e.Code >= http.StatusBadRequest && e.Resource != "events" {
			failures[fmt.Sprintf("%s of %s %s: %d", e.Verb, e.Resource, e.Name, e.Code)]++
		}
	}
	for write, n := range failures {
		if n > 1 {
			t.Errorf("the %s has been repeated: %d times", write, n)
		}
	}
	t.Logf("%d writes failed", len(failures))
}
