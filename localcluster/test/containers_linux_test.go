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
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestContainers_Probes_SetReadinessAndRestart checks that a Pod whose readiness probe fails is not ready, and that a container whose
// liveness probe fails is restarted.
func TestContainers_Probes_SetReadinessAndRestart(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	n.create(t, namespace, n.serving("probed"))
	n.until(t, namespace, "probed", "ready", ready)
	n.get(t, namespace, "probed", "8080", "/get-busy")
	n.until(t, namespace, "probed", "not ready", func(p *corev1.Pod) bool { return !ready(p) })
	n.event(t, namespace, "probed", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
	n.get(t, namespace, "probed", "8080", "/get-sick")
	n.until(t, namespace, "probed", "started again", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].RestartCount == 1 && ready(p)
	})
	n.event(t, namespace, "probed", "Killing", "failed liveness probe, will be restarted")
	if out := n.logs(t, namespace, "probed", "--previous"); !strings.Contains(out, "received SIGTERM") {
		t.Errorf("the log of the one before is:\n%s", out)
	}
}

// TestContainers_Crash_IsReportedAndRestarted follows programs that end by themselves, or by a signal.
func TestContainers_Crash_IsReportedAndRestarted(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	crashing := n.duckPod("crashing", "fail", "3")
	crashing.Spec.RestartPolicy = corev1.RestartPolicyAlways
	n.create(t, namespace, crashing)
	found := n.until(t, namespace, "crashing", "in back-off", waitsFor("CrashLoopBackOff"))
	s := found.Status.ContainerStatuses[0]
	if last := s.LastTerminationState.Terminated; s.RestartCount != 1 || last == nil || last.ExitCode != 3 || last.Reason != "Error" {
		t.Errorf("the status is %+v", s)
	}
	if want := "back-off 10s restarting failed container=main pod=crashing_" + namespace; !strings.HasPrefix(s.State.Waiting.Message, want) {
		t.Errorf("it waits because %q", s.State.Waiting.Message)
	}
	n.event(t, namespace, "crashing", "BackOff", "Back-off restarting failed container main in pod crashing_")
	if found.Status.Phase != corev1.PodRunning {
		t.Errorf("its phase is %s", found.Status.Phase)
	}
	if out := n.logs(t, namespace, "crashing"); !strings.Contains(out, "failing with 3") {
		t.Errorf("its log is:\n%s", out)
	}

	n.create(t, namespace, n.serving("killed"))
	killed := n.until(t, namespace, "killed", "ready", ready)
	if err := syscall.Kill(processOf(t, string(killed.UID)), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed = n.until(t, namespace, "killed", "started again", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].RestartCount == 1 && ready(p)
	})
	if last := killed.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 137 {
		t.Errorf("it ended with %+v", last)
	}
}

// TestContainers_TerminationMessage_IsReported checks the termination message in a Pod's status: the content of the program's file, or else, if it
// has failed and the Pod requests that, the end of its log.
func TestContainers_TerminationMessage_IsReported(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	long := strings.Repeat("It was not me. ", 500)
	var lines strings.Builder
	for i := 22; i <= 100; i++ {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	for name, c := range map[string]struct {
		command []string
		policy  corev1.TerminationMessagePolicy
		want    string
	}{
		"file":          {[]string{"confess", "It was me."}, corev1.TerminationMessageReadFile, "It was me."},
		"long-file":     {[]string{"confess", long}, corev1.TerminationMessageReadFile, long[len(long)-4096:]},
		"file-and-log":  {[]string{"confess", "It was me."}, corev1.TerminationMessageFallbackToLogsOnError, "It was me."},
		"log":           {[]string{"fail", "3"}, corev1.TerminationMessageFallbackToLogsOnError, "failing with 3\n"},
		"long-log":      {[]string{"fail", "3", "100"}, corev1.TerminationMessageFallbackToLogsOnError, lines.String() + "failing with 3\n"},
		"no-file":       {[]string{"fail", "3"}, corev1.TerminationMessageReadFile, ""},
		"log-of-a-good": {[]string{"say", "5"}, corev1.TerminationMessageFallbackToLogsOnError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := n.duckPod(name, c.command...)
			p.Spec.Containers[0].TerminationMessagePolicy = c.policy
			n.create(t, namespace, p)
			found := n.until(t, namespace, name, "over", over)
			if got := found.Status.ContainerStatuses[0].State.Terminated; got == nil || got.Message != c.want {
				t.Errorf("it ended with %+v, want the message %q", got, c.want)
			}
		})
	}
}

// processesOf returns the processes that were given a Pod's UID.
func processesOf(t *testing.T, uid string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, file := range files {
		data, err := os.ReadFile(file)
		// Most belong to others, and some have ended since.
		if err != nil || !strings.Contains(string(data), uid) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(file, "/")[2]); err == nil && pid != os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}

func processOf(t *testing.T, uid string) int {
	t.Helper()
	found := processesOf(t, uid)
	if len(found) != 1 {
		t.Fatalf("there are the processes %v of Pod %s", found, uid)
	}
	return found[0]
}

// TestContainers_Stop_ReceiveSIGTERMAndTheGracePeriod checks that a program receives SIGTERM, and has the grace period of its Pod.
func TestContainers_Stop_ReceiveSIGTERMAndTheGracePeriod(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	willing, stubborn := n.serving("willing"), n.serving("stubborn")
	stubborn.Spec.Containers[0].Env = append(stubborn.Spec.Containers[0].Env, corev1.EnvVar{Name: "STUBBORN", Value: "yes"})
	seconds := int64(2)
	stubborn.Spec.TerminationGracePeriodSeconds = &seconds
	pods := n.kube.CoreV1().Pods(namespace)
	for p, want := range map[*corev1.Pod]time.Duration{willing: 0, stubborn: 2 * time.Second} {
		n.create(t, namespace, p)
		uid := n.until(t, namespace, p.Name, "ready", ready).UID
		processOf(t, string(uid))
		begun := time.Now()
		if err := pods.Delete(t.Context(), p.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		n.event(t, namespace, p.Name, "Killing", "Stopping container main")
		eventually(t, "the end of "+p.Name, func(ctx context.Context) error { return deleted(pods.Get(ctx, p.Name, metav1.GetOptions{})) })
		// The default is 30 seconds, which a program that ends at once does not need.
		if took := time.Since(begun); took < want || took > want+15*time.Second {
			t.Errorf("%s was deleted after %s", p.Name, took)
		}
		if left := processesOf(t, string(uid)); len(left) != 0 {
			t.Errorf("%s has left the processes %v", p.Name, left)
		}
	}
}
