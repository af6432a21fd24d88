//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// deadline bounds every wait.
const deadline = 30 * time.Second

// startCluster starts an API server with nothing in it.
func startCluster(t *testing.T) *rest.Config {
	t.Helper()
	// The output of a first build of the control plane should be visible while it runs for minutes.
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{Dir: filepath.Join(t.TempDir(), "cluster"), Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// await polls until check holds.
func await(t *testing.T, what string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !check() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited %v until %s", deadline, what)
		}
	}
}

func TestTokens_ServiceAccounts_AreWritten(t *testing.T) {
	t.Parallel()
	config := startCluster(t)
	kube := kubernetes.NewForConfigOrDie(config)
	account := types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "subject"}
	_, err := kube.CoreV1().ServiceAccounts(account.Namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account.Name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failures := make(chan error, 10)
	subject := &tokens{ctx: ctx, kube: kube, dir: t.TempDir(), onError: func(err error) { failures <- err }, files: map[types.NamespacedName]string{}}
	path, err := subject.file(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	first := read(t, path)
	if again, err := subject.file(t.Context(), account); err != nil || again != path {
		t.Errorf("a second time: got %q, %v, want the same file", again, err)
	}

	subject.tasks.Go(func() { subject.keep(account, path, time.Now()) })
	await(t, "the token is renewed", func() bool { return read(t, path) != first })

	server := Server{URL: config.Host, CA: config.CAData}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := writeKubeconfig(kubeconfig, server, account, path); err != nil {
		t.Fatal(err)
	}
	own, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	review, err := kubernetes.NewForConfigOrDie(own).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := review.Status.UserInfo.Username, "system:serviceaccount:default:subject"; got != want {
		t.Errorf("with the kubeconfig one is %q, want %q", got, want)
	}

	if err := kube.CoreV1().ServiceAccounts(account.Namespace).Delete(t.Context(), account.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	subject.tasks.Go(func() { subject.keep(account, path, time.Now()) })
	select {
	case err := <-failures:
		if !matches(err, "requesting a token for service account default/subject") {
			t.Errorf("without its account: got %v, want an error that names it", err)
		}
	case <-time.After(deadline):
		t.Error("without its account: nothing was said")
	}
	if _, err := subject.file(t.Context(), types.NamespacedName{Namespace: "default", Name: "missing"}); !matches(err, "service account default/missing") {
		t.Errorf("of an account that never was: got %v, want an error that names it", err)
	}
	cancel()
	subject.tasks.Wait()
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatal("there was a moment without a token")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
