/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestConfig_Apply_SucceedsAtOnceAndDeleteLeavesNothing runs `ko apply -Rf config/`, without the images, and `ko delete -Rf config/
// --ignore-not-found`.
func TestConfig_Apply_SucceedsAtOnceAndDeleteLeavesNothing(t *testing.T) {
	c := newCluster(t)
	c.kubectl("wait", "--for=create", "--timeout=1m", "serviceaccount/default", "configmap/kube-root-ca.crt")
	before := c.everything()

	applied := c.kubectl("apply", "--recursive", "--filename", "config")
	for line := range strings.Lines(applied) {
		if !strings.HasSuffix(line, " created\n") {
			t.Errorf("on an empty cluster kubectl apply says %q", line)
		}
	}
	c.kubectl("wait", "--for=condition=Established", "--timeout=1m", "--filename", "config/300-addressableservice.yaml")
	c.awaitAggregation()

	// kubectl says of a disruption budget that it is configured whatever it holds, so the objects themselves are compared.
	versions := func() string {
		return c.kubectl("get", "--recursive", "--filename", "config",
			`--output=jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	first := versions()
	c.kubectl("apply", "--recursive", "--filename", "config")
	if diff := cmp.Diff(first, versions()); diff != "" {
		t.Errorf("config/ was applied again, and that wrote objects (-before +after):\n%s", diff)
	}

	// The first object is the namespace of most others, which may be deleted with it before kubectl requests that.
	c.kubectl("delete", "--recursive", "--filename", "config", "--timeout=2m", "--ignore-not-found")
	if diff := cmp.Diff(before, c.everything()); diff != "" {
		t.Errorf("config/ was applied and deleted, and the cluster is another one (-before +after):\n%s", diff)
	}
}

// TestConfig_Pods_AreAdmittedAsRestrictedWithoutAWarning uses the API server's pod security admission, which rejects Pods and
// warns of Deployments that make them, in the namespace as config/ labels it.
func TestConfig_Pods_AreAdmittedAsRestrictedWithoutAWarning(t *testing.T) {
	c := newCluster(t)
	c.kubectl("apply", "--recursive", "--filename", "config")
	for _, directory := range []string{"knative-samples", "knative-samples-directory"} {
		labels := c.kubectl("get", "namespace", directory, "--output=jsonpath={.metadata.labels}")
		for _, mode := range []string{"enforce", "warn", "audit"} {
			if want := `"pod-security.kubernetes.io/` + mode + `":"restricted"`; !strings.Contains(labels, want) {
				t.Errorf("namespace %s lacks %s: %s", directory, want, labels)
			}
		}
	}
	for _, overlay := range overlays {
		for _, d := range rendered(t, overlay).deployments {
			pod := podOf(t, d)
			kubectl(t, c.binary, c.kubeconfig, pod(nil), "create", "--dry-run=server", "--filename", "-")
			c.rejects(t, "a Pod that runs as root", pod(func(s *corev1.PodSpec) { s.SecurityContext.RunAsNonRoot = nil }))
			c.rejects(t, "a Pod without seccomp", pod(func(s *corev1.PodSpec) { s.SecurityContext.SeccompProfile = nil }))
			c.rejects(t, "a Pod that keeps capabilities", pod(func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.Capabilities = nil }))
		}
	}
}

// awaitAggregation waits until the cluster has filled the role that collects those of Addressable kinds.
func (c *cluster) awaitAggregation() {
	c.t.Helper()
	c.kubectl("wait", "--for=jsonpath={.rules[0].resources[0]}=addressableservices", "--timeout=1m", "clusterrole/mallard-addressable-resolver")
}

// rejects expects the object to be forbidden.
func (c *cluster) rejects(t *testing.T, what, object string) {
	t.Helper()
	out, err := c.try(object, "create", "--dry-run=server", "--filename", "-")
	if err == nil || !strings.Contains(out, `violates PodSecurity "restricted:`) {
		t.Errorf("%s: got %v and %q, want it to be rejected by pod security", what, err, out)
	}
}

// podOf returns the manifest of a Pod that the Deployment would make, changed if wanted.
func podOf(t *testing.T, d *appsv1.Deployment) func(change func(*corev1.PodSpec)) string {
	t.Helper()
	return func(change func(*corev1.PodSpec)) string {
		template := d.Spec.Template.DeepCopy()
		pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Name, pod.Namespace = d.Name, d.Namespace
		if change != nil {
			change(&pod.Spec)
		}
		content, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
}
