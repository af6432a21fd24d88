//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// claims is the number of Services that claim to be aliases.
const claims = 1000

// ofFence bounds how often a fence enqueues an object: for itself, its Service, its statuses and retries.
const ofFence = 20

// TestTenant_ServicesThatClaimToBeAliases_CostNothing has a tenant create and change Services with the label and the annotation of an alias of the tenant's
// object, and then stops the leader.
func TestTenant_ServicesThatClaimToBeAliases_CostNothing(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("controller", 2), harness.WithReplicas("webhook", 1), harness.WithProxy("controller"), harness.WithProxy("controller-1"))
	c := &cluster{Env: env}
	w := c.newTenant(t)
	as := w.apply(t, target+"---"+service("it", "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: it}"))[1]
	w.Await(t, as, harness.Ready)
	leader, standby := c.leader(t), "controller-1"
	if leader == standby {
		standby = "controller"
	}
	w.fence(t, "before")
	mark, before := c.Mark(t), enqueued(t, c.Process(t, leader))

	services := w.as.Kube.CoreV1().Services(w.ns)
	w.concurrently(t, func(ctx context.Context, n int) error {
		_, err := services.Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Name:        fmt.Sprintf("claim-%d", n),
				Labels:      map[string]string{"samples.knative.dev/addressableservice-uid": "claimed"},
				Annotations: map[string]string{"samples.knative.dev/addressableservice": w.ns + "/it"},
			},
			Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "evil.example.com"},
		}, metav1.CreateOptions{})
		return err
	})
	w.concurrently(t, func(ctx context.Context, n int) error {
		_, err := services.Patch(ctx, fmt.Sprintf("claim-%d", n), types.MergePatchType, []byte(`{"metadata": {"labels": {"changed": "yes"}}}`), metav1.PatchOptions{})
		return err
	})
	w.fence(t, "after")
	if got := enqueued(t, c.Process(t, leader)) - before; got > ofFence {
		t.Errorf("%d Services, each created and changed, and a fence have enqueued %v objects, want %d at most, for the fence", claims, got, ofFence)
	}

	c.Process(t, leader).Stop(t)
	w.fence(t, "taken-over")
	fixtures.CheckTakeover(t, mark, fixtures.ControllerLease, harness.ByProcess(leader), harness.ByProcess(standby), 0)
	w.as.Delete(t, as)
	w.Await(t, as, harness.Deleted)
	if deletes := mark.Entries(t, harness.ByUser(c.User("controller")), harness.ByRequest(harness.InNamespace(w.ns)), func(e harness.AuditEntry) bool {
		return e.Resource == "services"
	}); len(deletes) > 0 {
		t.Errorf("the controller sent %d requests for Services of the tenant, the first of which is %+v", len(deletes), deletes[0])
	}
}

// concurrently calls f for each claim. The API server answers a tenant's requests in a few seconds.
func (w *tenant) concurrently(t *testing.T, f func(ctx context.Context, n int) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for n := range claims {
		group.Go(func() error { return f(ctx, n) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// fence returns once the leader has reconciled an object for the event of a Service that is created now, and so has the events of Services
// before it.
func (w *tenant) fence(t *testing.T, name string) {
	t.Helper()
	as := w.apply(t, service(name, "{apiVersion: v1, kind: Service, name: "+name+"}"))[0]
	w.Await(t, as, harness.HasCondition("TargetResolved", "False", v1.ReasonTargetNotFound))
	w.apply(t, strings.Replace(target, "name: target", "name: "+name, 1))
	w.Await(t, as, harness.Ready)
}

// leader returns the name of the controller process that leads.
func (c *cluster) leader(t *testing.T) string {
	t.Helper()
	leader, err := fixtures.LeadingProcess(t, c.Env, "controller", "controller-1")
	if err != nil || leader == "" {
		t.Fatalf("the leader is %q: %v", leader, err)
	}
	return leader
}

// enqueued returns how many keys were added to the queue of AddressableServices.
func enqueued(t *testing.T, p *harness.Process) float64 {
	t.Helper()
	return fixtures.QueueCount(t, p, "kn_workqueue_adds_total", "AddressableService")
}
