//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const public = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: NAME}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  visibility: Public
`

func TestConfigMaps_InvalidOneForcedIn_LastValidStaysInEffect(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	// The webhook also reports that its configuration is missing.
	env.ExpectErrors(t, "Error updating addressable config", webhook.ConfigValidationName)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	old := env.Apply(t, ns, strings.ReplaceAll(public, "NAME", "old"))[0]
	env.SetConfig(t, config.AddressableName, map[string]string{"domain": "good.example.com"})
	env.Await(t, old, harness.Ready, hasURL("https://old."+ns+".good.example.com"))

	stopChecking(t, env)
	env.SetConfig(t, config.AddressableName, map[string]string{"domain": "better.example.com", "scheme": "ftp"})
	processes := []string{"controller", "webhook"}
	for _, process := range processes {
		harness.Eventually(t, "the "+process+" reports the bad ConfigMap", func(context.Context) error {
			if n := reports(t, env, process); n != 1 {
				return fmt.Errorf("it has done so %d times", n)
			}
			return nil
		})
	}

	var added harness.Ref
	env.Throughout(t, old, env.Unchanged(t, old), func() {
		// The webhook still defaults objects, and the controller reconciles them, with the last valid ConfigMap.
		added = env.Apply(t, ns, strings.ReplaceAll(public, "NAME", "new"))[0]
		env.Await(t, added, harness.Ready, hasURL("https://new."+ns+".good.example.com"))
		touch(t, env)
	})

	env.SetConfig(t, config.AddressableName, map[string]string{"scheme": "http"})
	for _, ref := range []harness.Ref{old, added} {
		env.Await(t, ref, harness.Ready, hasURL("http://"+ref.Name+"."+ns+".better.example.com"))
	}
	// The new address shows that each change of the ConfigMap has been seen by now. The second one was a label.
	for _, process := range processes {
		if n := reports(t, env, process); n != 2 {
			t.Errorf("the %s has reported the bad ConfigMap %d times, want once for each of 2 changes", process, n)
		}
	}
}

// stopChecking lets any ConfigMap in.
func stopChecking(t *testing.T, env *harness.Env) {
	t.Helper()
	err := env.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), webhook.ConfigValidationName, metav1.DeleteOptions{})
	if err != nil {
		t.Fatalf("removing the validation of ConfigMaps: %v", err)
	}
	// The API server learns of it with its own watch.
	harness.Eventually(t, "bad ConfigMaps are let in", func(ctx context.Context) error {
		cm, err := env.Kube.CoreV1().ConfigMaps(env.SystemNamespace).Get(ctx, config.AddressableName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		cm.Data["scheme"] = "ftp"
		_, err = env.Kube.CoreV1().ConfigMaps(env.SystemNamespace).Update(ctx, cm, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// touch changes what does not matter of the ConfigMap.
func touch(t *testing.T, env *harness.Env) {
	t.Helper()
	env.Patch(t, harness.Ref{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: env.SystemNamespace, Name: config.AddressableName,
	}, `{"metadata": {"annotations": {"example.com/touched": "true"}}}`)
}

// reports counts the lines of a process's log that report a bad config-addressable.
func reports(t *testing.T, env *harness.Env, process string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(env.Process(t, process).Log(t)) {
		if strings.Contains(line, config.AddressableName) && strings.Contains(line, "must be http or https") {
			n++
		}
	}
	return n
}

func hasURL(want string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return apierrors.NewNotFound(resource.GroupResource(), "")
		}
		if got, _, _ := unstructured.NestedString(o.Object, "status", "address", "url"); got != want {
			return fmt.Errorf("its URL is %q, want %q", got, want)
		}
		return nil
	}
}
