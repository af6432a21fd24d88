/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	knativewebhook "knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

const configurationName = "hooks.knative-samples"

// serve starts a process with hooks that answer reviews, and with the manifest of the documentation, and waits until the API server may call it.
func (s *scene) serve(all ...*hook.Hook) {
	s.Helper()
	port := freePort(s)
	settings := hook.WebhookSettings{Name: "hooks", Port: uint16(port), SecretName: "hooks-certs"}
	ctx, constructors, err := hook.Constructors(context.Background(), s.quick(), settings, all...)
	if err != nil {
		s.Fatal(err)
	}
	knativewebhook.GetOptions(ctx).GracePeriod = 100 * time.Millisecond
	manifest, err := os.ReadFile("../../docs/reference/hooks/admission.yaml")
	if err != nil {
		s.Fatal(err)
	}
	s.env.Apply(s, "", "{apiVersion: v1, kind: Namespace, metadata: {name: knative-samples}}")
	s.env.Define(s, string(manifest))
	s.env.Kubectl(s, "annotate", "service", "hooks", "--namespace=knative-samples", fmt.Sprintf("%s=443=127.0.0.1:%d", processes.EndpointsAnnotation, port))
	s.run(ctx, constructors...)
	harness.Eventually(s, "the webhook configurations are complete", func(ctx context.Context) error {
		validating, err := s.env.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, configurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		mutating, err := s.env.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, configurationName, metav1.GetOptions{})
		if err == nil && len(validating.Webhooks)+len(mutating.Webhooks) == 0 {
			err = errors.New("they have no webhook")
		}
		return err
	})
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// warnings are those that a client received.
type warnings struct{ journal }

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.addf("%s", text) }

// try creates a ConfigMap with a value, and returns it with the warnings.
func (s *scene) try(name, value string, labels map[string]string, dryRun ...string) (*corev1.ConfigMap, []string, error) {
	s.Helper()
	var received warnings
	config := rest.CopyConfig(s.env.Config)
	config.WarningHandler = &received
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.Fatal(err)
	}
	created, err := client.CoreV1().ConfigMaps(s.ns).Create(s.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"value": value},
	}, metav1.CreateOptions{DryRun: dryRun})
	return created, received.all(), err
}

// awaitDenial waits until the API server calls the webhook of a binding: it denies, or fails, the creation of a ConfigMap, which is not stored.
func (s *scene) awaitDenial(value string, labels map[string]string, want string) (status metav1.Status) {
	s.Helper()
	harness.Eventually(s, "a creation is denied: "+want, func(context.Context) error {
		_, _, err := s.try("denied", value, labels, metav1.DryRunAll)
		denied, ok := errors.AsType[*apierrors.StatusError](err)
		if !ok || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("the error is %w", err)
		}
		status = denied.Status()
		return nil
	})
	return status
}

// admission is the configuration of a hook with one binding for ConfigMaps of the scene.
func admission(kind, name, more string) string {
	return `configVersion: v1
` + kind + `:
- name: ` + name + `
  namespace: {nameSelector: {matchNames: [$NS]}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  timeoutSeconds: 30
` + more
}
