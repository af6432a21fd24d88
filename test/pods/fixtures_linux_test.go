//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"bytes"
	"context"
	"errors"
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
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// period is that of the stream of creates: 20 a second.
const period = 50 * time.Millisecond

func TestMain(m *testing.M) { harness.Main(m, harness.WithImages()) }

// leader returns the Pod that holds the lease of the reconciler.
func leader(t *testing.T, env *harness.Env) string {
	t.Helper()
	var name string
	harness.Eventually(t, "a Pod leads", func(ctx context.Context) error {
		lease, err := fixtures.Lease(ctx, env)
		if err != nil {
			return err
		}
		// The identity begins with the name of the machine, which the Pods of this node share, but each logs its own.
		holder := ptr.Deref(lease.Spec.HolderIdentity, "")
		for _, pod := range running(t, env, "controller") {
			log, err := env.Kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
			if err != nil {
				return fmt.Errorf("reading the log of %s: %w", pod.Name, err)
			}
			if holder != "" && strings.Contains(string(log), holder) {
				name = pod.Name
				return nil
			}
		}
		return errors.New("no ready Pod holds the lease")
	})
	return name
}

// podsOf are all Pods of a component.
func podsOf(ctx context.Context, env *harness.Env, component string) ([]corev1.Pod, error) {
	list, err := env.Kube.CoreV1().Pods(env.SystemNamespace).List(ctx, metav1.ListOptions{LabelSelector: labelOf(component)})
	if err != nil {
		return nil, fmt.Errorf("listing the Pods of the %s: %w", component, err)
	}
	return list.Items, nil
}

// labelOf selects the Pods of a component.
func labelOf(component string) string { return "app.kubernetes.io/component=" + component }

// running are the Pods of a component that are ready and not about to go.
func running(t *testing.T, env *harness.Env, component string) []corev1.Pod {
	t.Helper()
	pods, err := podsOf(t.Context(), env, component)
	if err != nil {
		t.Fatal(err)
	}
	var ready []corev1.Pod
	for _, pod := range pods {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				ready = append(ready, pod)
			}
		}
	}
	return ready
}

// awaitRunning waits until a component has exactly so many ready Pods.
func awaitRunning(t *testing.T, env *harness.Env, component string, n int) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the %s has %d ready Pods", component, n), func(context.Context) error {
		if pods := running(t, env, component); len(pods) != n {
			return fmt.Errorf("%d are ready", len(pods))
		}
		return nil
	})
}

func scale(t *testing.T, env *harness.Env, component string, replicas int) {
	t.Helper()
	env.Kubectl(t, "scale", "deployment/"+component, "--namespace", env.SystemNamespace, fmt.Sprintf("--replicas=%d", replicas))
}

// kill sends SIGKILL to every process of a Pod.
func kill(t *testing.T, pod string) {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, path := range environments {
		// Other processes may exit concurrently, or not belong to the test.
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, []byte("POD_NAME="+pod+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatalf("killing process %d of Pod %s: %v", pid, pod, err)
		}
		killed++
	}
	if killed == 0 {
		t.Fatalf("Pod %s has no process", pod)
	}
}
