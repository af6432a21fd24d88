//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
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

// TestTenant_ObjectsThatClaimToBeChildrenOrSubjects_CostNothing has a tenant create and change Pods and Deployments with labels, marks and owner references
// of the tenant's objects, and then delete these.
func TestTenant_ObjectsThatClaimToBeChildrenOrSubjects_CostNothing(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	c := &cluster{Env: env}
	w := c.newTenant(t)
	w.optIn(t)
	refs := w.apply(t, addressed+"---"+fmt.Sprintf(plainDeployment, "", "")+"---"+bind("it", "K_ADDRESS", toWork)+"---"+deployed("it"))
	binding, owner := refs[len(refs)-2], refs[len(refs)-1]
	bound := w.Await(t, binding, harness.HasCondition("SubjectsBound", "True", ""))
	uid := w.Await(t, owner, harness.Ready).GetUID()
	controller := c.Process(t, "controller")
	added := func(kind string) float64 { return fixtures.QueueCount(t, controller, "kn_workqueue_adds_total", kind) }
	w.fenceKinds(t, "before")
	mark, before := c.Mark(t), map[string]float64{"AddressBinding": added("AddressBinding"), "SimpleDeployment": added("SimpleDeployment")}

	never := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main"}}}
	w.concurrently(t, func(ctx context.Context, n int) error {
		child := metav1.OwnerReference{APIVersion: "samples.knative.dev/v1alpha1", Kind: "SimpleDeployment", Name: "it", UID: uid}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: claimOf(n), Labels: map[string]string{samples.PodOwnerUIDLabelKey: string(uid)}}, Spec: never}
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
		subject := metav1.ObjectMeta{Name: claimOf(n)}
		switch n % 3 {
		case 0: // no controller
			pod.OwnerReferences = []metav1.OwnerReference{child}
			subject.OwnerReferences = []metav1.OwnerReference{{APIVersion: "samples.knative.dev/v1", Kind: "AddressBinding", Name: "it", UID: bound.GetUID()}}
		case 1: // another kind of the same name
			child.APIVersion, child.Controller = "other.example.com/v1", new(true)
			pod.OwnerReferences = []metav1.OwnerReference{child}
			subject.Annotations = map[string]string{samples.BoundVariablesAnnotationKey: `{"main": {"K_ADDRESS": ["0123456789 other"]}}`}
		default: // the label alone
			subject.Labels = map[string]string{"bindings.knative.dev/include": "true"}
		}
		_, podErr := w.as.Kube.CoreV1().Pods(w.ns).Create(ctx, pod, metav1.CreateOptions{})
		labels := map[string]string{"app": claimOf(n)}
		_, err := w.as.Kube.AppsV1().Deployments(w.ns).Create(ctx, &appsv1.Deployment{ObjectMeta: subject, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), Paused: true, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: never},
		}}, metav1.CreateOptions{})
		return errors.Join(podErr, err)
	})
	w.concurrently(t, func(ctx context.Context, n int) error {
		changed := []byte(`{"metadata": {"labels": {"changed": "yes"}}}`)
		_, podErr := w.as.Kube.CoreV1().Pods(w.ns).Patch(ctx, claimOf(n), types.MergePatchType, changed, metav1.PatchOptions{})
		_, err := w.as.Kube.AppsV1().Deployments(w.ns).Patch(ctx, claimOf(n), types.MergePatchType, changed, metav1.PatchOptions{})
		return errors.Join(podErr, err)
	})
	w.fenceKinds(t, "after")
	for kind, earlier := range before {
		if got := added(kind) - earlier; got > ofFence {
			t.Errorf("%d claims, each created and changed, and a fence have enqueued %v objects of kind %s, want %d at most, for the fence", claims, got, kind, ofFence)
		}
	}
	for _, ref := range []harness.Ref{binding, owner} {
		w.as.Delete(t, ref)
		w.Await(t, ref, harness.Deleted)
	}
	w.fenceKinds(t, "deleted")
	if requests := mark.Entries(t, harness.ByUser(c.User("controller")), func(e harness.AuditEntry) bool {
		return e.Namespace == w.ns && strings.HasPrefix(e.Name, "claim-")
	}); len(requests) > 0 {
		t.Errorf("the controller sent %d requests for the claiming objects, the first of which is %+v", len(requests), requests[0])
	}
}

// mostOfChanges bounds the requests for a few objects that change: statuses, Events and a Pod.
const mostOfChanges = 50

// TestTenant_ManyReferencesAndBindings_AChangeCostsFewRequests has a tenant refer to one Service with 1,000 objects, and bind 1,000 names, and then
// change the Service and create a subject. The Service enqueues each object that refers to it, which has nothing to do.
func TestTenant_ManyReferencesAndBindings_AChangeCostsFewRequests(t *testing.T) {
	t.Parallel()
	c := &cluster{Env: harness.Own(t)}
	w := c.newTenant(t)
	w.optIn(t)
	manifests := []string{addressed}
	for n := range claims {
		subject := "{apiVersion: apps/v1, kind: Deployment, name: " + claimOf(n) + "}"
		manifests = append(manifests, service(claimOf(n), "{apiVersion: v1, kind: Service, name: target}"), bind(claimOf(n), "K_ADDRESS", subject))
	}
	refs := w.apply(t, strings.Join(manifests, "---"))
	for i := 2; i < len(refs); i += 2 {
		w.Await(t, refs[i], harness.Ready)
		w.Await(t, refs[i+1], harness.HasCondition("SubjectsBound", "False", v1.ReasonSubjectNotFound), harness.HasCondition("Intercepted", "True", ""))
	}
	w.fenceKinds(t, "before")
	controller := c.Process(t, "controller")
	bindingsAdded := func() float64 { return fixtures.QueueCount(t, controller, "kn_workqueue_adds_total", "AddressBinding") }
	mark, servicesBefore, bindingsBefore := c.Mark(t), enqueued(t, controller), bindingsAdded()

	w.as.Patch(t, refs[0], `{"metadata": {"labels": {"changed": "yes"}}}`)
	w.fence(t, "after")
	w.fenceKinds(t, "bound")
	if got := enqueued(t, controller) - servicesBefore; got < claims || got > claims+ofFence {
		t.Errorf("the change of a Service with %d references and a fence have enqueued %v objects", claims, got)
	}
	if got := bindingsAdded() - bindingsBefore; got > ofFence {
		t.Errorf("a new subject next to %d bindings of other names has enqueued %v bindings, want %d at most", claims, got, ofFence)
	}
	sent := mark.Entries(t, func(e harness.AuditEntry) bool {
		return strings.HasPrefix(e.User, c.User("")) && e.Resource != "leases" && e.Verb != "watch"
	})
	if t.Logf("%d requests%s", len(sent), summary(sent)); len(sent) > mostOfChanges {
		t.Errorf("the operator sent %d requests, want %d at most", len(sent), mostOfChanges)
	}
}

func claimOf(n int) string { return fmt.Sprintf("claim-%d", n) }

func deployed(name string) string {
	return "\napiVersion: samples.knative.dev/v1alpha1\nkind: SimpleDeployment\nmetadata: {name: " + name + "}\nspec: {image: main, replicas: 1}\n"
}

// fenceKinds is fence for the events of Deployments and Pods.
func (w *tenant) fenceKinds(t *testing.T, name string) {
	t.Helper()
	named := strings.NewReplacer("name: work", "name: "+name, "app: work", "app: "+name)
	refs := w.apply(t, bind(name, "FENCE", named.Replace(toWork))+"---"+deployed(name))
	w.Await(t, refs[1], harness.Ready)
	w.apply(t, named.Replace(fmt.Sprintf(plainDeployment, "", "")))
	w.Await(t, refs[0], harness.HasCondition("SubjectsBound", "True", ""))
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
