/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/addressableservice/urls"
)

func TestAddressableService_UnknownPort_ConditionReportsItWithoutRetries(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort))
	as := env.Apply(t, ns, object("it", toService("target")+"\nports: [{name: metrics}]"))[0]
	env.Await(t, as, notReady(v1.ReasonPortNotFound), says("has no port metrics, which spec.ports requests; its TCP ports are [http:80]"))

	// A loop would write, or log a failed reconciliation, again and again. What comes after
	// the condition is reconciled after anything that a loop would have queued.
	reconciliations := reconcileErrors(t, env, ns)
	mark := env.Mark(t)
	for range 3 {
		env.Apply(t, ns, service("other", onePort))
		other := env.Apply(t, ns, object("other", toService("other")))[0]
		env.Await(t, other, harness.Ready)
		env.Delete(t, other)
		env.Await(t, other, harness.Deleted)
	}
	isAboutIt := func(e harness.AuditEntry) bool { return e.Namespace == ns && e.Name == "it" }
	if again := mark.Entries(t, harness.ByUser(env.User("controller")), isAboutIt); len(again) > 0 {
		t.Errorf("the controller went on asking: %v", again)
	}
	if more := reconcileErrors(t, env, ns); more != reconciliations {
		t.Errorf("the controller's log has %d failed reconciliations of this namespace, after %d", more, reconciliations)
	}

	// It becomes Ready when the Service gets the port.
	env.Apply(t, ns, service("target", "[{name: http, port: 80}, {name: metrics, port: 9090}]"))
	env.Await(t, as, harness.Ready, hasURLs(local("target", ns)+":9090"))
}

// TestAddressableService_EachServiceOfTheReference_HasTheURLOrTheReason creates the Services of the table, among them those with other protocols than
// TCP, on a real API server, which shows that such Services exist.
func TestAddressableService_EachServiceOfTheReference_HasTheURLOrTheReason(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	want := map[harness.Ref][]harness.Condition{}
	for i := range urls.Rows(t, "target", ns) {
		name := fmt.Sprintf("target-%d", i)
		row := urls.Rows(t, name, ns)[i]
		if !row.Lasts() {
			continue
		}
		env.Apply(t, ns, fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: %s\n", name, row.Spec))
		as := env.Apply(t, ns, object(name, toService(name)+"\nports: "+row.Ports))[0]
		switch row.Reason {
		case "":
			want[as] = []harness.Condition{harness.Ready, hasURLs(row.URL)}
		case v1.ReasonTargetPortUnknown:
			want[as] = []harness.Condition{harness.HasCondition("Ready", "Unknown", row.Reason), hasURLs(), says(row.Message)}
		default:
			want[as] = []harness.Condition{notReady(row.Reason), says(row.Message)}
		}
	}
	for as, conditions := range want {
		env.Await(t, as, conditions...)
	}
}

// reconcileErrors counts the failed reconciliations of objects of a namespace in the controller's log.
func reconcileErrors(t *testing.T, env *harness.Env, namespace string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(env.Process(t, "controller").Log(t)) {
		if strings.Contains(line, "Reconcile error") && strings.Contains(line, namespace) {
			n++
		}
	}
	return n
}
