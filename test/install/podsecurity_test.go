/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// strict is a client's configuration with which each warning of the API server fails the test.
func strict(t *testing.T, env *harness.Env) *rest.Config {
	t.Helper()
	config := rest.CopyConfig(env.Config)
	config.WarningHandler = warnings{t}
	return config
}

type warnings struct{ t *testing.T }

// HandleWarningHeader implements rest.WarningHandler.
func (w warnings) HandleWarningHeader(_ int, _, text string) {
	w.t.Errorf("the API server warns: %s", text)
}

// TestConfig_Pods_AreAdmittedAsRestrictedWithoutAWarning uses the API server's pod security admission, which rejects Pods
// in the namespace as config/ labels it.
func TestConfig_Pods_AreAdmittedAsRestrictedWithoutAWarning(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for _, name := range []string{env.SystemNamespace, env.SystemNamespace + "-directory"} {
		namespace, err := env.Kube.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"enforce", "warn", "audit"} {
			if got := namespace.Labels["pod-security.kubernetes.io/"+mode]; got != "restricted" {
				t.Errorf("namespace %s has the level %q to %s, want restricted", name, got, mode)
			}
		}
	}
	kube, err := kubernetes.NewForConfig(strict(t, env))
	if err != nil {
		t.Fatal(err)
	}
	create := func(d *appsv1.Deployment, change func(*corev1.PodSpec)) error {
		template := d.Spec.Template.DeepCopy()
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Name = d.Name
		change(&pod.Spec)
		_, err := kube.CoreV1().Pods(d.Namespace).Create(t.Context(), pod, metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
		})
		return err
	}
	for _, overlay := range installations {
		for _, d := range rendered(t, overlay).deployments {
			if err := create(d, func(*corev1.PodSpec) {}); err != nil {
				t.Errorf("overlay %s: the Pod of %s is rejected: %v", overlay, d.Name, err)
			}
			for what, change := range map[string]func(*corev1.PodSpec){
				"a Pod that runs as root":            func(s *corev1.PodSpec) { s.SecurityContext.RunAsNonRoot = nil },
				"a Pod without seccomp":              func(s *corev1.PodSpec) { s.SecurityContext.SeccompProfile = nil },
				"a Pod that keeps capabilities":      func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.Capabilities = nil },
				"a Pod without any security context": func(s *corev1.PodSpec) { s.Containers[0].SecurityContext = nil },
			} {
				if err := create(d, change); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted:`) {
					t.Errorf("overlay %s: %s of %s: got %v, want it to be rejected by pod security", overlay, what, d.Name, err)
				}
			}
		}
	}
}
