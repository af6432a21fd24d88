//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestJoin_SecondAPIServer_ReadsTheSameEtcd runs a second API server on the etcd of a cluster. It has no watch cache, so that its answers
// are those of the compacted etcd.
func TestJoin_SecondAPIServer_ReadsTheSameEtcd(t *testing.T) {
	first := up(t, "--until-eof")
	dir := t.TempDir()
	t.Chdir(filepath.Dir(first.dir()))
	join := []string{"--join", filepath.Base(first.dir()), "--dir", dir, "--", "--watch-cache=false", "--feature-gates=WatchList=false"}
	second := up(t, join...)
	configMaps := first.client(t).CoreV1().ConfigMaps("default")
	create := func(name string) string {
		t.Helper()
		made, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return made.ResourceVersion
	}
	created := create("one")
	if got, err := second.client(t).CoreV1().ConfigMaps("default").Get(t.Context(), "one", metav1.GetOptions{}); err != nil || got.ResourceVersion != created {
		t.Errorf("the second API server has %v, %v; want version %s", got, err, created)
	}
	token := requestToken(t, first.client(t), "default", "default")
	if user := whoAmI(t, second.config(t), token); user != "system:serviceaccount:default:default" {
		t.Errorf("the second API server takes a token of the first for %q", user)
	}

	second.signal(t, syscall.SIGTERM)
	if code := second.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, second.stderr.String())
	}
	create("two")
	if out, err := exec.Command(binary, "compact", "--dir", first.dir()).CombinedOutput(); err != nil {
		t.Fatalf("compacting: %v\n%s", err, out)
	}
	second = up(t, join...)
	watched, err := second.client(t).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: created})
	if err == nil {
		defer watched.Stop()
		event := <-watched.ResultChan()
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("a watch from a compacted revision is answered with %v, want 410", err)
	}
	if _, err := configMaps.Get(t.Context(), "two", metav1.GetOptions{}); err != nil {
		t.Errorf("after the second API server was stopped: %v", err)
	}
}
