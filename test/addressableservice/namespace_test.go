//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// The namespace's deletion removes the target before most of its objects. The controller knows that they are about to be deleted as
// well: Kubernetes begins 5 s after the namespace got its deletionTimestamp.
//
// It has a separate environment, for the deletion of a namespace waits for those of the other tests.
func TestNamespaceIsDeleted_ManyObjects_NoStatusUpdate(t *testing.T) {
	t.Parallel()
	const objects = 200
	env := harness.Own(t)
	// client-go logs an event that arrives after the namespace is deleted, and not one that arrives before.
	env.ExpectErrors(t, "Server rejected event")
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
