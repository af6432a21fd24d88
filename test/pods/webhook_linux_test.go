//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// TestWebhook_AllPodsDeleted_OnlyOurObjectsAreAffected deletes all Pods of the webhook: other objects are not affected, ours can be read,
// and can be written again once new Pods are ready.
func TestWebhook_AllPodsDeleted_OnlyOurObjectsAreAffected(t *testing.T) {
	env := harness.Shared(t)
	awaitRunning(t, env, "webhook", 2)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	objects := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	if _, err := objects.Create(t.Context(), fixtures.Published(ns, "before"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	fixtures.AwaitReady(t, env, ns, 1)
	for _, pod := range running(t, env, "webhook") {
		t.Logf("Pod %s serves", pod.Name)
	}
	scale(t, env, "webhook", 0)
	back := func() {
		scale(t, env, "webhook", 2)
		awaitRunning(t, env, "webhook", 2)
	}
	restored := false
	defer func() {
		if !restored {
			back()
		}
	}()
	awaitNoPods(t, env, "webhook")

	for _, where := range []string{ns, env.SystemNamespace} {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "of-others"}}
		if _, err := env.Kube.CoreV1().ConfigMaps(where).Create(t.Context(), made, metav1.CreateOptions{}); err != nil {
			t.Errorf("a ConfigMap of others in namespace %s: %v", where, err)
		}
		if err := env.Kube.CoreV1().ConfigMaps(where).Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting it: %v", err)
		}
	}
	if _, err := objects.Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Errorf("reading ours: %v", err)
	}
	_, err := objects.Create(t.Context(), fixtures.Published(ns, "outage"), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `failed calling webhook "defaulting.webhook.samples.knative.dev"`) {
		t.Errorf("writing ours: %v, want an error that names the webhook", err)
	}

	back()
	restored = true
	harness.Eventually(t, "ours can be written again", func(ctx context.Context) error {
		_, err := objects.Create(ctx, fixtures.Published(ns, "after"), metav1.CreateOptions{})
		return err
	})
	fixtures.AwaitReady(t, env, ns, 2)
}

func awaitNoPods(t *testing.T, env *harness.Env, component string) {
	t.Helper()
	harness.Eventually(t, "no Pod of the "+component+" is left", func(ctx context.Context) error {
		pods, err := podsOf(ctx, env, component)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d are", len(pods))
		}
		return err
	})
}

// TestRollout_EachDeployment_NoRequestFails restarts each Deployment under a stream of creates, of which none may fail.
func TestRollout_EachDeployment_NoRequestFails(t *testing.T) {
	for _, component := range []string{"webhook", "controller"} {
		t.Run(component, func(t *testing.T) {
			env := harness.Shared(t)
			awaitRunning(t, env, component, 2)
			ns := env.Namespace(t)
			mark := env.Mark(t)
			before := running(t, env, component)
			stream := fixtures.StartStream(t, env, ns, period)
			env.Kubectl(t, "rollout", "restart", "deployment/"+component, "--namespace", env.SystemNamespace)
			env.Kubectl(t, "rollout", "status", "deployment/"+component, "--namespace", env.SystemNamespace, "--timeout=5m")
			harness.Eventually(t, "the previous Pods are deleted", func(ctx context.Context) error {
				for i := range before {
					if _, err := env.Kube.CoreV1().Pods(env.SystemNamespace).Get(ctx, before[i].Name, metav1.GetOptions{}); err == nil {
						return fmt.Errorf("%s still exists", before[i].Name)
					}
				}
				return nil
			})
			names := stream.Stop(t)
			fixtures.AwaitReady(t, env, ns, len(names))
			noneTwice(t, env, mark, ns, names, false)
		})
	}
}

func TestScale_EachDeployment_Converges(t *testing.T) {
	env := harness.Shared(t)
	for _, component := range []string{"controller", "webhook"} {
		awaitRunning(t, env, component, 2)
		for _, n := range []int{3, 2} {
			scale(t, env, component, n)
			awaitRunning(t, env, component, n)
		}
	}
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	if _, err := fixtures.Client(env).SamplesV1().AddressableServices(ns).Create(t.Context(), fixtures.Published(ns, "it"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	fixtures.AwaitReady(t, env, ns, 1)
}
