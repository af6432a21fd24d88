//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// withWater gives all containers of a Pod the same empty volume at /water.
func withWater(p *corev1.Pod) *corev1.Pod {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{
		Name: "water", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	})
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			containers[i].VolumeMounts = append(containers[i].VolumeMounts, corev1.VolumeMount{Name: "water", MountPath: "/water"})
		}
	}
	return p
}

// command is a probe that runs the test's program with the given arguments.
func command(args ...string) *corev1.Probe {
	return &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: append([]string{"/app/duck"}, args...)},
	}}
}

// TestContainers_ProbeKinds_AreObeyed checks the probes that are no HTTP requests, and that a startup probe keeps the others waiting.
func TestContainers_ProbeKinds_AreObeyed(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	t.Run("startup", func(t *testing.T) {
		p := withWater(n.serving("starting"))
		c := &p.Spec.Containers[0]
		c.StartupProbe = command("exists", "/water/started")
		c.StartupProbe.FailureThreshold = 1000
		// It would be started again at once if this one did not wait.
		c.LivenessProbe = command("exists", "/water/started")
		n.create(t, namespace, p)
		n.event(t, namespace, p.Name, "Unhealthy", "Startup probe failed: duck: stat /water/started: no such file or directory")
		found := n.until(t, namespace, p.Name, "running", running)
		if s := found.Status.ContainerStatuses[0]; s.Ready || s.Started == nil || *s.Started {
			t.Errorf("before its startup probe succeeds it is %+v", s)
		}
		if out, err := kubectl(n.process, "exec", "--namespace", namespace, p.Name, "--", "/app/duck", "write", "/water/started", "1"); err != nil {
			t.Fatalf("kubectl exec: %v\n%s", err, out)
		}
		found = n.until(t, namespace, p.Name, "ready", ready)
		if s := found.Status.ContainerStatuses[0]; s.Started == nil || !*s.Started || s.RestartCount != 0 {
			t.Errorf("after its startup probe succeeded it is %+v", s)
		}
	})
	t.Run("failed startup", func(t *testing.T) {
		p := n.serving("failing")
		p.Spec.Containers[0].StartupProbe = command("fail", "3")
		n.create(t, namespace, p)
		n.event(t, namespace, p.Name, "Killing", "Container main failed startup probe, will be restarted")
		n.until(t, namespace, p.Name, "started again", func(p *corev1.Pod) bool { return p.Status.ContainerStatuses[0].RestartCount > 0 })
	})
	t.Run("exec", func(t *testing.T) {
		slow, dead := n.serving("slow"), n.serving("dead")
		slow.Spec.Containers[0].ReadinessProbe, dead.Spec.Containers[0].LivenessProbe = command("sleep"), command("fail", "3")
		n.create(t, namespace, slow)
		n.create(t, namespace, dead)
		n.event(t, namespace, slow.Name, "Unhealthy", "Readiness probe failed: command timed out")
		n.event(t, namespace, dead.Name, "Unhealthy", "Liveness probe failed: failing with 3")
		n.event(t, namespace, dead.Name, "Killing", "Container main failed liveness probe, will be restarted")
	})
	t.Run("gRPC", func(t *testing.T) {
		sick := "sick"
		for name, service := range map[string]*string{"well": nil, "sick": &sick} {
			p := n.serving(name)
			p.Spec.Containers[0].Args = []string{"health"}
			p.Spec.Containers[0].LivenessProbe = nil
			p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
				GRPC: &corev1.GRPCAction{Port: 8080, Service: service},
			}}
			n.create(t, namespace, p)
		}
		n.until(t, namespace, "well", "ready", ready)
		n.event(t, namespace, "sick", "Unhealthy", "Readiness probe failed", "NOT_SERVING")
		if n.until(t, namespace, "sick", "running", running); ready(n.until(t, namespace, "sick", "running", running)) {
			t.Error("the one that is not well is ready")
		}
	})
}

// TestContainers_Sidecars_StartFirstAndStopLast checks that init containers run one after the other, and that sidecars start before the others and
// stop after them.
func TestContainers_Sidecars_StartFirstAndStopLast(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	always := corev1.ContainerRestartPolicyAlways
	beside := func(name string, env ...corev1.EnvVar) corev1.Container {
		c := n.serving(name).Spec.Containers[0]
		c.Name, c.RestartPolicy, c.Env = name, &always, slices.Concat(env, []corev1.EnvVar{{Name: "PORT", Value: "0"}})
		c.Ports, c.LivenessProbe, c.ReadinessProbe = nil, nil, nil
		return c
	}
	plain := func(name string, args ...string) corev1.Container {
		c := n.duckPod(name, args...).Spec.Containers[0]
		c.Name = name
		return c
	}
	p := n.duckPod("accompanied", "exists", "/water/second")
	seconds := int64(2)
	p.Spec.TerminationGracePeriodSeconds = &seconds
	p.Spec.InitContainers = []corev1.Container{
		beside("stubborn", corev1.EnvVar{Name: "STUBBORN", Value: "yes"}),
		plain("first", "write", "/water/first", "1"),
		beside("willing"),
		plain("second", "write", "/water/second", "1"),
	}
	// The second would be too early if it did not wait for the first, and for the sidecar.
	p.Spec.InitContainers[2].StartupProbe = command("exists", "/water/first")
	withWater(p)
	n.create(t, namespace, p)
	found := n.until(t, namespace, p.Name, "over", over)
	if found.Status.Phase != corev1.PodSucceeded {
		t.Errorf("it ended as %s: %+v", found.Status.Phase, found.Status)
	}
	ended := map[string]corev1.ContainerStatus{}
	for _, s := range append(found.Status.InitContainerStatuses, found.Status.ContainerStatuses...) {
		ended[s.Name] = s
	}
	for name, code := range map[string]int32{"stubborn": 137, "first": 0, "willing": 0, "second": 0, "main": 0} {
		if s := ended[name].State.Terminated; s == nil || s.ExitCode != code || ended[name].RestartCount != 0 {
			t.Errorf("container %s ended as %+v instead of with %d", name, ended[name], code)
		}
	}
	if first, second := ended["first"].State.Terminated, ended["second"].State.Terminated; first != nil && second != nil &&
		second.StartedAt.Before(&first.FinishedAt) {
		t.Errorf("the second began %s, before the first ended %s", second.StartedAt, first.FinishedAt)
	}
	if out := n.logs(t, namespace, p.Name, "--container", "willing"); !strings.Contains(out, "received SIGTERM") {
		t.Errorf("the willing one has said:\n%s", out)
	}

	failing := n.duckPod("uninitialized", "env")
	failing.Spec.InitContainers = []corev1.Container{beside("willing"), plain("first", "fail", "3")}
	n.create(t, namespace, failing)
	found = n.until(t, namespace, failing.Name, "over", over)
	if s := found.Status.ContainerStatuses[0]; found.Status.Phase != corev1.PodFailed || s.State.Waiting == nil ||
		s.State.Waiting.Reason != "PodInitializing" {
		t.Errorf("after its init container failed it is %s: %+v", found.Status.Phase, s)
	}
}

// TestContainers_ImageChanged_AreRestarted checks that a container is started again with the image that its Pod is given, whatever its
// restart policy is, and that an image from elsewhere is not executed in this way either.
func TestContainers_ImageChanged_AreRestarted(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	other, err := mutate.Config(duckImage(t), v1.Config{
		Entrypoint: []string{"/app/duck"}, Cmd: []string{"env"}, User: "65532:65532", Env: []string{"FROM_IMAGE=second"},
	})
	if err != nil {
		t.Fatal(err)
	}
	second := push(t, n.host+"/duck:second", other)
	p := n.serving("changed")
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	n.create(t, namespace, p)
	n.until(t, namespace, p.Name, "ready", ready)
	set := func(image string) {
		t.Helper()
		patch := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","image":%q}]}}`, image)
		_, err := n.kube.CoreV1().Pods(namespace).Patch(t.Context(), p.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	set(second)
	n.event(t, namespace, p.Name, "Killing", "Container main definition changed, will be restarted")
	n.until(t, namespace, p.Name, "ready with the other image", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses[0]
		return ready(p) && s.RestartCount == 1 && s.Image == second && s.LastTerminationState.Terminated != nil
	})
	set("example.com/duck:third")
	n.event(t, namespace, p.Name, "Failed", "example.com/duck:third is not from the local registry")
	n.until(t, namespace, p.Name, "without a process", func(p *corev1.Pod) bool { return p.Status.ContainerStatuses[0].State.Running == nil })
}
