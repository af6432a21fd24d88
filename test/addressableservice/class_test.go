/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestAddressableService_AnotherClass_IsNeverWritten(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	target := env.Apply(t, ns, service("target", onePort))[0]
	foreign := env.Apply(t, ns, classed("foreign", "other", published("target", ns)))[0]
	ours := env.Apply(t, ns, object("ours", toService("target")))[0]
	env.Await(t, ours, harness.Ready)
	if o := env.Await(t, foreign, harness.Exists); len(o.GetFinalizers()) > 0 {
		t.Errorf("it has finalizers %v, want none", o.GetFinalizers())
	}

	// Everything that writes to an object of ours happens to both.
	mark := env.Mark(t)
	env.Throughout(t, foreign, env.Unchanged(t, foreign), func() {
		env.Delete(t, target)
		env.Await(t, ours, harness.HasCondition("Ready", "False", ""))
		env.Apply(t, ns, service("target", onePort))
		env.Await(t, ours, harness.Ready)
	})
	env.Delete(t, foreign)
	env.Await(t, foreign, harness.Deleted)
	isForeign := func(e harness.AuditEntry) bool {
		return e.Namespace == ns && e.Name == "foreign" || e.Namespace == directory && e.Name == ns
	}
	if writes := mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), isForeign); len(writes) > 0 {
		t.Errorf("the controller wrote to it: %v", writes)
	}
	noEventsAbout(t, env, ns, "foreign")
}

// noEventsAbout fails when there is an event about an object.
func noEventsAbout(t *testing.T, env *harness.Env, namespace, name string) {
	t.Helper()
	events, err := env.Kube.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{
		FieldSelector: "involvedObject.name=" + name,
	})
	if err != nil {
		t.Fatalf("listing events: %v", err)
	}
	for _, e := range events.Items {
		t.Errorf("there is an event about %s: %s %s", name, e.Reason, e.Message)
	}
}
