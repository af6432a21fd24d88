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

	"knative.dev/pkg/apis"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/harness"
)

const (
	// leaderLease is the lease of the controller.
	leaderLease = "controller.00-of-01"
	// period is that of the stream of creates: 20 a second.
	period = 50 * time.Millisecond
)

func TestMain(m *testing.M) { harness.Main(m, harness.WithImages()) }

const target = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
`

// object is an AddressableService that publishes an alias, so that it has a child and a finalizer.
func object(ns, name string) *v1.AddressableService {
	return &v1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: v1.AddressableServiceSpec{
			Ref:     v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"},
			Publish: &v1.Publication{Alias: name + "-" + ns[len(ns)-5:]},
		},
	}
}

// nameOf is the name of the n-th object of a stream.
func nameOf(n int) string { return fmt.Sprintf("o%04d", n) }

// stream creates 20 objects a second until stop is called, which returns their names and fails the test if one could not
// be created.
func stream(t *testing.T, env *harness.Env, ns string) (stop func() (names []string)) {
	t.Helper()
	load := harness.Every(t, period, func(ctx context.Context, n int) error {
		_, err := env.Samples.SamplesV1().AddressableServices(ns).Create(ctx, object(ns, nameOf(n)), metav1.CreateOptions{})
		return err
	})
	return func() []string {
		t.Helper()
		made, failures := load.Stop()
		for _, err := range failures {
			t.Errorf("creating an object: %v", err)
		}
		var names []string
		for _, n := range made {
			names = append(names, nameOf(n))
		}
		return names
	}
}

// leader returns the Pod that holds the lease of the reconciler.
func leader(t *testing.T, env *harness.Env) string {
	t.Helper()
	var name string
	harness.Eventually(t, "a Pod leads", func(ctx context.Context) error {
		lease, err := env.Kube.CoordinationV1().Leases(env.SystemNamespace).Get(ctx, leaderLease, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the lease: %w", err)
		}
		holder := lease.Spec.HolderIdentity
		if holder == nil || *holder == "" {
			return errors.New("nobody holds the lease")
		}
		for _, pod := range running(t, env, "controller") {
			if strings.Contains(*holder, pod.Name) {
				name = pod.Name
				return nil
			}
		}
		return fmt.Errorf("the lease is held by %s, which is no running Pod", *holder)
	})
	return name
}

// running are the Pods of a component that are ready and not about to go.
func running(t *testing.T, env *harness.Env, component string) []corev1.Pod {
	t.Helper()
	list, err := env.Kube.CoreV1().Pods(env.SystemNamespace).List(t.Context(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/component=" + component,
	})
	if err != nil {
		t.Fatalf("listing the Pods of the %s: %v", component, err)
	}
	var ready []corev1.Pod
	for _, pod := range list.Items {
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

// awaitReady waits until the objects are Ready.
func awaitReady(t *testing.T, env *harness.Env, ns string, names []string) {
	t.Helper()
	harness.EventuallyWithin(t, time.Minute, "every object is Ready", func(ctx context.Context) error {
		list, err := env.Samples.SamplesV1().AddressableServices(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing the objects: %w", err)
		}
		if len(list.Items) != len(names) {
			return fmt.Errorf("there are %d, want %d", len(list.Items), len(names))
		}
		for i := range list.Items {
			if !list.Items[i].Status.GetCondition(apis.ConditionReady).IsTrue() {
				return fmt.Errorf("%s is not", list.Items[i].Name)
			}
		}
		return nil
	})
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
		// Processes of others may end meanwhile, or be none of our business.
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
