//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPods_Invalid_ReportTheReasonInStatusAndEvents checks that status and events of a Pod report its errors as in a cluster.
func TestPods_Invalid_ReportTheReasonInStatusAndEvents(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	if _, err := n.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "pond"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	variable := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "COLOR", ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "color"},
			}}}
		}
	}
	image := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Image = name }
	}
	for _, c := range []struct {
		name            string
		change          func(*corev1.Pod)
		reason, message string
		event           string
	}{
		{"no-image", image(n.host + "/none:v1"), "ErrImagePull", n.host + "/none:v1: not found", "Failed"},
		{"back-off", image(n.host + "/none:v2"), "ImagePullBackOff", "Back-off pulling image \"" + n.host + "/none:v2\"", "BackOff"},
		{"bad-name", image(n.host + "/UPPER"), "InvalidImageName", "couldn't parse image name", "InspectFailed"},
		{"never", func(p *corev1.Pod) {
			p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = n.host+"/none:v3", corev1.PullNever
		}, "ErrImageNeverPull", "is not present with pull policy of Never", "ErrImageNeverPull"},
		{"no-map", variable("none"), "CreateContainerConfigError", `configmap "none" not found`, "Failed"},
		{"no-key", variable("pond"), "CreateContainerConfigError", "couldn't find key color in ConfigMap " + namespace + "/pond", "Failed"},
		{"no-volume", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "water", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}},
			}}}
		}, "ContainerCreating", "", "FailedMount"},
		{"root", func(p *corev1.Pod) {
			yes, root := true, int64(0)
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsNonRoot: &yes, RunAsUser: &root}
		}, "CreateContainerConfigError", "breaks non-root policy", "Failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := n.duckPod(c.name, "env")
			c.change(p)
			n.create(t, namespace, p)
			n.until(t, namespace, c.name, c.reason, func(p *corev1.Pod) bool {
				return waitsFor(c.reason)(p) && p.Status.Phase == corev1.PodPending &&
					strings.Contains(p.Status.ContainerStatuses[0].State.Waiting.Message, c.message)
			})
			n.event(t, namespace, c.name, c.event)
		})
	}
	t.Run("no command", func(t *testing.T) {
		p := n.duckPod("no-command")
		p.Spec.Containers[0].Command = []string{"/none"}
		n.create(t, namespace, p)
		found := n.until(t, namespace, p.Name, "over", over)
		if s := found.Status.ContainerStatuses[0].State.Terminated; s == nil || s.ExitCode != 128 || s.Reason != "StartError" ||
			!strings.Contains(s.Message, `exec: "/none": stat /none: file does not exist`) {
			t.Errorf("its state is %+v", s)
		}
	})
	t.Run("set right", func(t *testing.T) {
		if _, err := n.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "none"}, Data: map[string]string{"color": "blue"},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		n.until(t, namespace, "no-map", "over", over)
		if out := n.logs(t, namespace, "no-map"); !strings.Contains(out, "COLOR=blue") {
			t.Errorf("it was given:\n%s", out)
		}
		n.until(t, namespace, "no-volume", "over", over)
	})
}

// TestCluster_Exits_LeavesNoProcess checks that processes end with their cluster, however it ends, with all that they have started,
// and that the next start continues with the same Pods.
func TestCluster_Exits_LeavesNoProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	n := upNode(t, "--dir", dir)
	namespace := newNamespace(t, n.kube)
	p := n.duckPod("forks", "fork")
	p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	if os.Geteuid() == 0 {
		// If processes have a separate PID namespace, none can escape.
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "OWN_GROUP", Value: "yes"})
	}
	n.create(t, namespace, p)
	uid := string(n.until(t, namespace, "forks", "running", running).UID)
	for restarts, end := range []func(){
		func() { n.signal(t, syscall.SIGTERM) },
		func() { n.kill() },
	} {
		both := func(want int) {
			t.Helper()
			eventually(t, fmt.Sprint(want, " processes"), func(context.Context) error {
				if found := processesOf(t, uid); len(found) != want {
					return fmt.Errorf("there are %v", found)
				}
				return nil
			})
		}
		both(2)
		end()
		<-n.done
		both(0)
		host := n.host
		again := up(t, "--registry", "--dir", dir)
		n = &node{process: again, kube: again.client(t), image: n.image, host: registryOf(t, again.client(t))}
		if n.host != host {
			t.Errorf("the registry has moved from %s to %s", host, n.host)
		}
		found := n.until(t, namespace, "forks", "started again", func(p *corev1.Pod) bool {
			return running(p) && p.Status.ContainerStatuses[0].RestartCount == int32(restarts)+1
		})
		if last := found.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 255 {
			t.Errorf("it ended before with %+v", last)
		}
	}
	// The registry still has what was pushed.
	n.output(t, namespace, n.duckPod("late", "env"))
}

// TestCluster_WithoutRoot_RunsProcesses runs a cluster as an ordinary user, whose processes find their account through a kubeconfig.
func TestCluster_WithoutRoot_RunsProcesses(t *testing.T) {
	n := upAsOrdinaryUser(t, &syscall.SysProcAttr{})
	namespace := newNamespace(t, n.kube)
	if out := n.output(t, namespace, n.duckPod("account", "get", "/api/v1/namespaces/"+namespace+"/secrets")); !strings.HasPrefix(out, "403 ") ||
		!strings.Contains(out, "system:serviceaccount:"+namespace+":default") {
		t.Errorf("the API server returns %s", out)
	}
	if out := n.output(t, namespace, n.duckPod("reads", "read", "app/data")); out != "quack\n" {
		t.Errorf("it reads %q", out)
	}
	n.create(t, namespace, n.serving("serves"))
	n.until(t, namespace, "serves", "ready", ready)
	if got := n.get(t, namespace, "serves", "8080", "/"); got != "serves" {
		t.Errorf("it answers as %q", got)
	}
}

// TestCluster_UserNamespace_ProcessesHaveRoots runs a cluster as the root of a user namespace, as package controlplane starts it for ordinary users.
func TestCluster_UserNamespace_ProcessesHaveRoots(t *testing.T) {
	uid, gid := ordinaryUser()
	n := upAsOrdinaryUser(t, &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}},
	})
	namespace := newNamespace(t, n.kube)
	if out := n.output(t, namespace, n.duckPod("reads", "read", "/app/data")); out != "quack\n" {
		t.Errorf("it reads %q", out)
	}
	if out := n.output(t, namespace, n.duckPod("null", "read", "/dev/null")); out != "" {
		t.Errorf("it reads %q from /dev/null", out)
	}
	pod := n.duckPod("sealed", "read", "/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: new(true), RunAsUser: new(int64(65532))}
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(65532))}
	if out := n.output(t, namespace, pod); strings.TrimSpace(out) != namespace {
		t.Errorf("with a read-only root folder it reads the namespace %q, want %s", out, namespace)
	}
}

// ordinaryUser returns the user and the group of a cluster that is not root's.
func ordinaryUser() (uid, gid int) {
	if uid, gid = os.Geteuid(), os.Getegid(); uid == 0 {
		const ordinary = 65534
		return ordinary, ordinary
	}
	return uid, gid
}

// upAsOrdinaryUser starts a cluster that runs images.
func upAsOrdinaryUser(t *testing.T, attributes *syscall.SysProcAttr) *node {
	t.Helper()
	//nolint:usetesting // the folder that t.TempDir makes is in one that no other user may enter
	dir, err := os.MkdirTemp("", "ordinary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.Command(binary, "up", "--registry", "--dir", filepath.Join(dir, "cluster"))
	cmd.SysProcAttr = attributes
	if os.Geteuid() == 0 {
		uid, gid := ordinaryUser()
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		// It has to be able to run the program, which is in the home of another user.
		cmd.Path = filepath.Join(dir, "localcluster")
		if err := os.Link(binary, cmd.Path); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
		if attributes.UidMappings == nil {
			attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		} else {
			attributes.Credential = &syscall.Credential{NoSetGroups: true} // of root in the namespace
		}
	}
	p, err := spawnCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	if err := p.waitReady(); err != nil {
		t.Fatal(err)
	}
	return newNode(t, p)
}

// TestPods_DiskFull_ReportItAndRecover checks the status of a Pod for whose image, files or volumes the disk has no space, and that the Pod
// runs once there is space.
func TestPods_DiskFull_ReportItAndRecover(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	folder := filepath.Join(dir, "process")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	p, disk := runOnSmallDisk(t, folder, "80m", "up", "--registry", "--dir", dir)
	if err := p.waitReady(); err != nil {
		t.Fatal(err)
	}
	n := newNode(t, p)
	namespace := newNamespace(t, n.kube)
	if _, err := n.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "lake"}, Data: map[string]string{"water": strings.Repeat("w", 512<<10)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const noSpace = "no space left on device"
	waits := func(reason string) func(*corev1.Pod) bool {
		return func(p *corev1.Pod) bool {
			return waitsFor(reason)(p) && strings.Contains(p.Status.ContainerStatuses[0].State.Waiting.Message, noSpace)
		}
	}
	for _, step := range []struct {
		name string
		rest uint64
		see  func(name string)
	}{
		{"image", 1 << 20, func(name string) {
			n.until(t, namespace, name, "without its image", waits("ErrImagePull"))
			eventually(t, "nothing left of the image", func(context.Context) error {
				left, err := filepath.Glob(filepath.Join(disk, "images", ".unpacking-*"))
				if err == nil && len(left) != 0 {
					err = fmt.Errorf("there is %q", left)
				}
				return err
			})
		}},
		{"files", 1 << 20, func(name string) { n.until(t, namespace, name, "without its files", waits("CreateContainerError")) }},
		{"volume", 64 << 10, func(name string) { n.event(t, namespace, name, "FailedMount", `"lake"`, noSpace) }},
	} {
		ballast := filepath.Join(disk, "ballast")
		fill(t, disk, step.rest)
		p := n.duckPod(step.name, "env")
		if step.name == "volume" {
			p.Spec.Volumes = []corev1.Volume{{Name: "lake", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "lake"}},
			}}}
		}
		n.create(t, namespace, p)
		step.see(step.name)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		n.until(t, namespace, step.name, "over", over)
		if err := n.kube.CoreV1().Pods(namespace).Delete(t.Context(), step.name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
