/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// TestPods_Lifecycle_IsReported follows Pods through their lives.
func TestPods_Lifecycle_IsReported(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	pods := client.CoreV1().Pods(namespace)
	addresses := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := pods.Create(t.Context(), pod(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		running := waitRunning(t, client, namespace, name)
		if other, taken := addresses[running.Status.PodIP]; taken {
			t.Errorf("%s and %s have the address %s", name, other, running.Status.PodIP)
		}
		addresses[running.Status.PodIP] = name
		if running.Spec.NodeName != "localcluster" || !hasCondition(running, corev1.PodScheduled) {
			t.Errorf("%s is on the Node %q: %+v", name, running.Spec.NodeName, running.Status)
		}
		if s := running.Status.ContainerStatuses; len(s) != 1 || !s[0].Ready || s[0].State.Running == nil {
			t.Errorf("%s has the containers %+v", name, s)
		}
	}
	if err := pods.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deletion of the Pod", func(ctx context.Context) error { return deleted(pods.Get(ctx, "a", metav1.GetOptions{})) })
}

// TestEndpointSlices_Pod_AreUpdated follows the endpoints of a Service while the Pod that it selects is created and deleted.
func TestEndpointSlices_Pod_AreUpdated(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	_, err := client.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "a"},
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	address := waitRunning(t, client, namespace, "a").Status.PodIP
	expect := func(want ...string) {
		t.Helper()
		eventually(t, fmt.Sprintf("the endpoints %v", want), func(ctx context.Context) error {
			found, err := client.DiscoveryV1().EndpointSlices(namespace).List(ctx,
				metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=a"})
			if err != nil {
				return err
			}
			if got := readyEndpoints(found.Items); !slices.Equal(got, want) {
				return fmt.Errorf("they are %v", got)
			}
			return nil
		})
	}
	expect(address + ":8080")
	if err := client.CoreV1().Pods(namespace).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect()
}

// readyEndpoints returns the addresses with their first ports.
func readyEndpoints(found []discoveryv1.EndpointSlice) []string {
	var ready []string
	for _, slice := range found {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready != nil && *e.Conditions.Ready {
				ready = append(ready, fmt.Sprintf("%s:%d", e.Addresses[0], *slice.Ports[0].Port))
			}
		}
	}
	return ready
}

// TestPods_Pending_WaitForOthers checks two kinds of Pods that wait for another component.
func TestPods_Pending_WaitForOthers(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	pods := client.CoreV1().Pods(namespace)

	gated := pod("gated")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	if _, err := pods.Create(t.Context(), gated, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	unready := pod("unready")
	unready.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}}
	if _, err := pods.Create(t.Context(), unready, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var err error
	eventually(t, "a Pod that is Running but not Ready", func(ctx context.Context) error {
		if unready, err = pods.Get(ctx, "unready", metav1.GetOptions{}); err != nil {
			return err
		}
		if unready.Status.Phase != corev1.PodRunning || hasCondition(unready, corev1.PodReady) {
			return fmt.Errorf("its status is %+v", unready.Status)
		}
		return nil
	})
	unready.Status.Conditions = append(unready.Status.Conditions, corev1.PodCondition{Type: "example.com/open", Status: corev1.ConditionTrue})
	if _, err := pods.UpdateStatus(t.Context(), unready, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitRunning(t, client, namespace, "unready")

	// By now the loop has long seen the gated one.
	if gated, err = pods.Get(t.Context(), "gated", metav1.GetOptions{}); err != nil || gated.Spec.NodeName != "" {
		t.Fatalf("a Pod with a scheduling gate is on the Node %q (%v)", gated.Spec.NodeName, err)
	}
	gated.Spec.SchedulingGates = nil
	if _, err := pods.Update(t.Context(), gated, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitRunning(t, client, namespace, "gated")
}

// TestPods_VolumesAndTokenSecrets_ArePublished checks the objects from which a Pod's volumes and token Secrets are created.
func TestPods_VolumesAndTokenSecrets_ArePublished(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	eventually(t, "the root CA", func(ctx context.Context) error {
		published, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		if err == nil && !strings.Contains(published.Data["ca.crt"], "BEGIN CERTIFICATE") {
			t.Fatalf("it holds %v", published.Data)
		}
		return err
	})
	_, err := client.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the token in a Secret", func(ctx context.Context) error {
		secret, err := client.CoreV1().Secrets(namespace).Get(ctx, "token", metav1.GetOptions{})
		if err == nil && len(secret.Data[corev1.ServiceAccountTokenKey]) == 0 {
			return errors.New("it holds no token yet")
		}
		return err
	})
}

// TestCluster_WithoutTheFlag_HasNeitherNodeNorRegistry checks that an ordinary cluster has neither the Node nor the registry nor controllers that
// others would be in the way of.
func TestCluster_WithoutTheFlag_HasNeitherNodeNorRegistry(t *testing.T) {
	p := sharedCluster(t)
	client := p.client(t)
	nodes, err := registered(t.Context(), client)
	if err != nil || len(nodes) != 1 || !nodes["localcluster"] {
		t.Errorf("there are the Nodes %v (%v)", nodes, err)
	}
	if _, err := client.CoreV1().ConfigMaps("kube-public").Get(t.Context(), "local-registry-hosting", metav1.GetOptions{}); err == nil {
		t.Error("a registry is announced")
	}
}

// registered returns the names of the Nodes.
func registered(ctx context.Context, client kubernetes.Interface) (map[string]bool, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, node := range nodes.Items {
		found[node.Name] = true
	}
	return found, nil
}
