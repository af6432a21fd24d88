//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/keyutil"
)

// serving returns a Pod whose program listens on its port, with the probes that programs have.
func (n *node) serving(name string) *corev1.Pod {
	p := n.duckPod(name, "serve")
	p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	c := &p.Spec.Containers[0]
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	c.Env = append(c.Env, corev1.EnvVar{Name: "PORT", Value: "8080"})
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http")},
		}}
	}
	c.ReadinessProbe, c.LivenessProbe = probe("/ready"), probe("/healthy")
	return p
}

// deploy makes a Deployment of serving Pods and waits until all are ready.
func (n *node) deploy(t *testing.T, namespace string, replicas int32) {
	t.Helper()
	p := n.serving("flock")
	_, err := n.kube.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "flock"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: p.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.flock(t, namespace, int(replicas), nil)
}

// flock waits until a number of Pods are ready and no others exist, none of which is among those of before, and returns
// their UIDs.
func (n *node) flock(t *testing.T, namespace string, want int, before sets.Set[types.UID]) sets.Set[types.UID] {
	t.Helper()
	found := sets.New[types.UID]()
	eventually(t, fmt.Sprint(want, " ready Pods"), func(ctx context.Context) error {
		found = sets.New[types.UID]()
		pods, err := n.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if p.DeletionTimestamp == nil && ready(&p) && !before.Has(p.UID) {
				found.Insert(p.UID)
			}
		}
		if len(found) != want || len(pods.Items) != want {
			return fmt.Errorf("%d Pods are ready of %d", len(found), len(pods.Items))
		}
		return nil
	})
	return found
}

// TestDeployment_ScaleRestartAndDelete_Converges does with a Deployment what people do: scale, restart, delete a Pod.
func TestDeployment_ScaleRestartAndDelete_Converges(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	n.deploy(t, namespace, 1)
	do := func(args ...string) {
		t.Helper()
		if out, err := kubectl(n.process, append([]string{"--namespace", namespace}, args...)...); err != nil {
			t.Fatalf("kubectl %q: %v\n%s", args, err, out)
		}
	}
	do("scale", "deployment/flock", "--replicas=3")
	do("rollout", "status", "deployment/flock", "--timeout=30s")
	first := n.flock(t, namespace, 3, nil)
	do("rollout", "restart", "deployment/flock")
	do("rollout", "status", "deployment/flock", "--timeout=30s")
	second := n.flock(t, namespace, 3, first)
	pods, err := n.kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	do("delete", "pod", pods.Items[0].Name)
	if third := n.flock(t, namespace, 3, nil); third.Intersection(second).Len() != 2 {
		t.Errorf("after the deletion of one Pod %d are the same", third.Intersection(second).Len())
	}
	do("delete", "deployment", "flock")
	n.flock(t, namespace, 0, nil)
}

// TestDisruptionBudget_Eviction_IsRejected checks that an eviction which a budget does not allow is rejected.
func TestDisruptionBudget_Eviction_IsRejected(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	n.deploy(t, namespace, 1)
	one := intstr.FromInt32(1)
	_, err := n.kube.PolicyV1().PodDisruptionBudgets(namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "flock"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "flock"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the budget's status", func(ctx context.Context) error {
		budget, err := n.kube.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, "flock", metav1.GetOptions{})
		if err == nil && budget.Status.CurrentHealthy != 1 {
			err = fmt.Errorf("it is %+v", budget.Status)
		}
		return err
	})
	pods, err := n.kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = n.kube.PolicyV1().Evictions(namespace).Evict(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: pods.Items[0].Name, Namespace: namespace},
	})
	if err == nil || !strings.Contains(err.Error(), "disruption budget") {
		t.Errorf("the eviction: %v", err)
	}
}

// TestJobs_ExitCodes_DecideTheirResult checks that Jobs succeed and fail by the exit codes of their programs.
func TestJobs_ExitCodes_DecideTheirResult(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	for name, args := range map[string][]string{"succeeds": {"env"}, "fails": {"fail", "4"}} {
		p := n.duckPod(name, args...)
		_, err := n.kube.BatchV1().Jobs(namespace).Create(t.Context(), &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       batchv1.JobSpec{BackoffLimit: new(int32), Template: corev1.PodTemplateSpec{Spec: p.Spec}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]batchv1.JobConditionType{"succeeds": batchv1.JobComplete, "fails": batchv1.JobFailed} {
		eventually(t, "the end of job "+name, func(ctx context.Context) error {
			job, err := n.kube.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range job.Status.Conditions {
				if c.Type == want && c.Status == corev1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("it is %+v", job.Status)
		})
	}
}

// TestReplicas_SamePort_ServeConcurrently reaches each of several Pods that declare the same port, as kubectl does, and finds them in
// the Service's endpoints.
func TestReplicas_SamePort_ServeConcurrently(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	for _, name := range []string{"a", "b"} {
		n.create(t, namespace, n.serving(name))
		n.until(t, namespace, name, "ready", ready)
		if got := n.get(t, namespace, name, "8080", "/"); got != name {
			t.Errorf("%s answers as %q", name, got)
		}
	}
	if out, err := kubectl(n.process, "exec", "--namespace", namespace, "a", "--", "/app/duck", "read", "/app/data"); err != nil || !strings.Contains(out, "quack") {
		t.Errorf("kubectl exec: %v\n%s", err, out)
	}
	if out, err := kubectl(n.process, "exec", "--namespace", namespace, "a", "--", "/app/duck", "fail", "5"); err == nil || !strings.Contains(out, "exit code 5") {
		t.Errorf("kubectl exec of what fails: %v\n%s", err, out)
	}
}

// get asks a Pod through kubectl port-forward.
func (n *node) get(t *testing.T, namespace, pod, port, path string) string {
	t.Helper()
	forward, err := spawn("kubectl", "--kubeconfig", n.kubeconfig, "port-forward", "--namespace", namespace, "pod/"+pod, ":"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer forward.kill()
	select {
	case line := <-forward.first:
		fields := strings.Fields(line)
		if len(fields) < 3 {
			t.Fatalf("kubectl port-forward says %q", line)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+fields[2]+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			// A program that exits instead of answering does so on purpose.
			return err.Error()
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(body))
	case <-forward.done:
		t.Fatalf("kubectl port-forward: %s", forward.stderr.String())
	case <-time.After(waitLimit):
		t.Fatal("kubectl port-forward says nothing")
	}
	return ""
}

// TestWebhook_ThroughItsService_IsCalled checks that the API server calls a webhook where the ready Pods of its Service are, and reports it if no Pod is ready.
func TestWebhook_ThroughItsService_IsCalled(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	pair, bundle := makeCertificate(t, "guard."+namespace+".svc")
	key, err := keyutil.MarshalPrivateKeyToPEM(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.kube.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "certificate"}, Data: map[string][]byte{"tls.crt": bundle, "tls.key": key},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.kube.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "guard"},
			Ports:    []corev1.ServicePort{{Name: "https", Port: 8443, TargetPort: intstr.FromString("https")}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	registerWebhook(t, n.kube, namespace, bundle)
	expect := func(words string) {
		t.Helper()
		eventually(t, words, func(ctx context.Context) error {
			_, err := n.kube.CoreV1().ConfigMaps(namespace).Create(ctx,
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"}}, metav1.CreateOptions{})
			if err == nil || !strings.Contains(err.Error(), words) {
				return fmt.Errorf("not rejected with %q: %w", words, err)
			}
			return nil
		})
	}
	expect("no endpoints available for service \"" + namespace + "/guard\"")
	for _, name := range []string{"first", "second"} {
		p := n.duckPod(name, "guard")
		p.Labels = map[string]string{"app": "guard"}
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
		c := &p.Spec.Containers[0]
		c.Ports = []corev1.ContainerPort{{Name: "https", ContainerPort: 9443}}
		c.Env = []corev1.EnvVar{{Name: "PORT", Value: "9443"}}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "certificate", MountPath: "/certificate", ReadOnly: true}}
		p.Spec.Volumes = []corev1.Volume{{Name: "certificate", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: "certificate"},
		}}}
		c.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("https")},
		}}
		n.create(t, namespace, p)
		n.until(t, namespace, name, "ready", ready)
		expect("rejected by " + name)
		if err := n.kube.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("no endpoints available")
	}
}
