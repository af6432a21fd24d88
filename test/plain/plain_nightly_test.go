//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { harness.Main(m, harness.Bare()) }

const addressable = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: it}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: it}
`

const replicated = `
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: main, replicas: 2}
`

// TestPlain_NoHardening_EachKindBecomesReady shows that the constructors need nothing but knative.dev/pkg, and the permissions in config/.
func TestPlain_NoHardening_EachKindBecomesReady(t *testing.T) {
	env := harness.Own(t, harness.WithConfig(plainConfig(t)))
	env.ExpectErrors(t, "ca-cert.pem") // the controllers that copy the CA begin before there is one
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	// The process is ready before the API server knows its CA.
	env.AwaitAdmission(t, ns, addressable, func(o *unstructured.Unstructured) error {
		if o.GetAnnotations()[samples.ClassAnnotationKey] != samples.ClassMallard {
			return errors.New("it has no class")
		}
		return nil
	})
	itself := strings.Replace(addressable, "v1, kind: Service, name: target", "samples.knative.dev/v1, kind: AddressableService, name: it", 1)
	if _, err := env.TryApply(t, ns, itself); err == nil || !strings.Contains(err.Error(), "cannot refer to itself") {
		t.Errorf("applying an AddressableService that refers to itself: %v", err)
	}

	as := env.Apply(t, ns, addressable)[0]
	deployment := env.Apply(t, ns, strings.ReplaceAll(fixtures.Bound, "NAME", "it"))
	pods := env.Apply(t, ns, replicated)[0]
	alias := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: "knative-samples-directory", Name: "it"}
	for _, ref := range []harness.Ref{as, deployment[1], pods} {
		env.Await(t, ref, harness.Ready)
	}
	env.Await(t, alias, harness.Exists)
	env.Await(t, deployment[0], hasAddress("http://target."+ns+".svc.cluster.local"))
	awaitPods(t, env, ns, 2)

	env.Delete(t, deployment[1])
	env.Await(t, deployment[0], hasAddress(""))
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	env.Await(t, alias, harness.Deleted)
	env.Delete(t, pods)
	awaitPods(t, env, ns, 0)
}

// plainConfig returns a copy of config/ with the programs of this suite, which are probed at their metrics.
func plainConfig(t *testing.T) string {
	t.Helper()
	const images, root = "ko://github.com/mallard-dev/mallard/", "../../"
	plain := strings.NewReplacer(images+"cmd/controller", images+"test/plain", images+"cmd/webhook", images+"test/plain/webhook",
		"path: /readiness\n              port: probes", "path: /metrics\n              port: metrics")
	files, err := filepath.Glob(root + "config/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "hooks.yaml" {
			continue // the process has no constructor of a kind
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(plain.Replace(string(content))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hasAddress is the condition of a Deployment whose container has the environment variable K_ADDRESS with this value, or none if it is empty.
func hasAddress(want string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if text := fmt.Sprint(containers); strings.Contains(text, "K_ADDRESS") != (want != "") || !strings.Contains(text, want) {
			return fmt.Errorf("its containers are %s, want K_ADDRESS=%q", text, want)
		}
		return nil
	}
}

func awaitPods(t *testing.T, env *harness.Env, ns string, want int) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d Pods", want), func(ctx context.Context) error {
		pods, err := env.Kube.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: samples.PodOwnerUIDLabelKey})
		if err == nil && len(pods.Items) != want {
			err = fmt.Errorf("there are %d", len(pods.Items))
		}
		return err
	})
}
