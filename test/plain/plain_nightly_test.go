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
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
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

// start starts a control plane with the manifests, and returns once the webhook serves the defaults of a namespace. The process of the plain one is ready
// before the API server knows its CA.
func start(t *testing.T, options ...harness.Option) (env *harness.Env, ns string) {
	t.Helper()
	env = harness.Own(t, options...)
	// The controllers that copy the CA begin before there is one, and the API server sends requests before it trusts it.
	env.ExpectErrors(t, "ca-cert.pem", "TLS handshake error")
	ns = env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	env.AwaitAdmission(t, ns, addressable, func(o *unstructured.Unstructured) error {
		if o.GetAnnotations()[samples.ClassAnnotationKey] != samples.ClassMallard {
			return errors.New("it has no class")
		}
		return nil
	})
	return env, ns
}

// TestPlain_NoHardening_EachKindBecomesReady shows that the constructors need nothing but knative.dev/pkg, and the permissions in config/.
func TestPlain_NoHardening_EachKindBecomesReady(t *testing.T) {
	env, ns := start(t, harness.WithConfig(plainConfig(t)), harness.AllVersions())
	itself := strings.Replace(addressable, "v1, kind: Service, name: target", "samples.knative.dev/v1, kind: AddressableService, name: it", 1)
	if _, err := env.TryApply(t, ns, itself); err == nil || !strings.Contains(err.Error(), "cannot refer to itself") {
		t.Errorf("applying an AddressableService that refers to itself: %v", err)
	}
	harness.Eventually(t, "an invalid ConfigMap is rejected", func(ctx context.Context) error {
		_, err := env.Kube.CoreV1().ConfigMaps(env.SystemNamespace).Patch(ctx, config.AddressableName, types.MergePatchType,
			[]byte(`{"data":{"directory-namespace":"No namespace"}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return errors.New("it is accepted")
		}
		if !strings.Contains(err.Error(), "directory-namespace") {
			return err
		}
		return nil
	})

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
	older := as
	older.Resource.Version = "v1beta1"
	env.Await(t, older, func(o *unstructured.Unstructured) error {
		if stash := o.GetAnnotations()[fixtures.Stash]; o.GetAPIVersion() != samples.GroupName+"/v1beta1" || !strings.Contains(stash, "publish") {
			return fmt.Errorf("at v1beta1 the object is %v", o)
		}
		return nil
	})

	env.Delete(t, deployment[1])
	env.Await(t, deployment[0], hasAddress(""))
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	env.Await(t, alias, harness.Deleted)
	env.Delete(t, pods)
	awaitPods(t, env, ns, 0)
}

func TestPlain_WatchedCollections_AreThoseOfTheHardenedController(t *testing.T) {
	plain, hardened := watched(t, harness.WithConfig(plainConfig(t))), watched(t)
	if diff := cmp.Diff(plain, hardened); diff != "" || len(plain) == 0 {
		t.Errorf("collections that the controller watches (-plain +hardened):\n%s", diff)
	}
	t.Logf("the controller watches %d collections", len(plain))
}

// watched returns the collections that a controller watches once an object of each kind is ready, each as often as an informer does.
func watched(t *testing.T, options ...harness.Option) (paths []string) {
	t.Helper()
	env, ns := start(t, append(options, harness.Without("controller"), harness.WithProxy("controller"))...)
	mark := env.Mark(t)
	env.Process(t, "controller").Start(t)
	bound := env.Apply(t, ns, strings.ReplaceAll(fixtures.Bound, "NAME", "it"))[1]
	for _, ref := range append(env.Apply(t, ns, addressable+"---"+replicated), bound) {
		env.Await(t, ref, harness.Ready)
	}
	env.Process(t, "controller").Stop(t) // the audit log has a watch once it has ended
	for _, e := range mark.Entries(t, harness.ByProcess("controller"), harness.ByVerb("watch")) {
		query, err := url.ParseQuery(e.Query)
		if err != nil {
			t.Fatal(err)
		}
		if e.Code == http.StatusOK {
			paths = append(paths, strings.Join([]string{e.Path, query.Get("labelSelector"), query.Get("fieldSelector")}, " "))
		}
	}
	slices.Sort(paths)
	return paths
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
