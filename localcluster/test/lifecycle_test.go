//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCluster_Ready_RunsAPodAtOnce makes a Pod in the moment in which the path is printed: the service account, the roles and the Node must exist.
func TestCluster_Ready_RunsAPodAtOnce(t *testing.T) {
	p := up(t, "--until-eof")
	client := p.client(t)
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod("first"), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a Pod at once: %v", err)
	}
	role, err := client.RbacV1().ClusterRoles().Get(t.Context(), "cluster-admin", metav1.GetOptions{})
	if err != nil || len(role.Rules) == 0 {
		t.Fatalf("the role cluster-admin: %v, %v", role, err)
	}
	waitRunning(t, client, "default", "first")
}

// TestCluster_TemporaryFolder_IsRemoved checks that a cluster without --dir leaves nothing.
func TestCluster_TemporaryFolder_IsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := up(t)
	// As when the terminal is closed.
	p.signal(t, syscall.SIGHUP)
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
	assertEmpty(t, os.Getenv("TMPDIR"))
}

func TestCluster_UntilEOF_StopsAtTheEndOfInput(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := up(t, "--until-eof")
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
	assertEmpty(t, os.Getenv("TMPDIR"))
}

// TestCluster_TwoAtOnce_AreIndependent starts two at the same time and checks that neither sees the other's objects.
func TestCluster_TwoAtOnce_AreIndependent(t *testing.T) {
	first, err := spawn("up", "--until-eof")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.end)
	second := up(t, "--until-eof")
	if err := first.waitReady(); err != nil {
		t.Fatal(err)
	}
	one, two := first.client(t), second.client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "only-in-one"}}
	if _, err := one.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := two.CoreV1().Namespaces().Get(t.Context(), namespace.Name, metav1.GetOptions{}); err == nil {
		t.Error("the second cluster has the first one's namespace")
	}
}

// TestCluster_Restarted_KeepsItsData stops a cluster in order, and then kills one: both times the next one with the same folder continues with its
// objects, its tokens and its Pods' addresses.
func TestCluster_Restarted_KeepsItsData(t *testing.T) {
	dir := t.TempDir()
	p := up(t, "--dir", dir)
	client := p.client(t)
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod("kept"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := waitRunning(t, client, "default", "kept")
	token := requestToken(t, client, "default", "default")
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.stderr.String())
	}

	p = up(t, "--dir", dir)
	p.kill()
	if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
		t.Fatalf("the lock file of a killed cluster: %v", err)
	}

	p = up(t, "--dir", dir)
	if !strings.Contains(p.stderr.String(), "not stopped properly") {
		t.Errorf("the stale lock is not mentioned:\n%s", p.stderr.String())
	}
	client = p.client(t)
	after := waitRunning(t, client, "default", "kept")
	if after.UID != before.UID || after.Status.PodIP != before.Status.PodIP {
		t.Errorf("the Pod changed: %s %s, then %s %s", before.UID, before.Status.PodIP, after.UID, after.Status.PodIP)
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod("next"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if next := waitRunning(t, client, "default", "next"); next.Status.PodIP == after.Status.PodIP {
		t.Errorf("both Pods have the address %s", next.Status.PodIP)
	}
	if user := whoAmI(t, p.config(t), token); user != "system:serviceaccount:default:default" {
		t.Errorf("a token from before is taken for %q", user)
	}
}

func TestCluster_PortFlag_IsUsed(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	p := up(t, "--until-eof", "--port", port)
	if want := "https://127.0.0.1:" + port; p.config(t).Host != want {
		t.Errorf("the server is at %s instead of %s", p.config(t).Host, want)
	}
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Errorf("left behind: %s", entry.Name())
	}
}

// TestCluster_FolderOfAKilledOne_IsRemovedByTheNextStart checks that the next start deletes the temporary folder of a killed cluster, once
// the folder is too old to belong to a cluster that is just starting.
func TestCluster_FolderOfAKilledOne_IsRemovedByTheNextStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	killed := up(t)
	left := killed.dir()
	killed.kill()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(left, "lock"), old, old); err != nil {
		t.Fatal(err)
	}
	p := up(t)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the killed cluster still exists (%v)", err)
	}
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	assertEmpty(t, os.Getenv("TMPDIR"))
}
