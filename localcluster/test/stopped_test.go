/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestCluster_Stopped_LeavesOnlyItsData checks what is in the folder while the cluster runs, and that nothing but the data stays of it: no lock, no
// socket.
func TestCluster_Stopped_LeavesOnlyItsData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "made", "yet")
	p := up(t, "--dir", dir)
	if want := filepath.Join(dir, "admin.kubeconfig"); p.kubeconfig != want {
		t.Errorf("printed %q instead of %q", p.kubeconfig, want)
	}
	for _, name := range []string{"admin.kubeconfig", "audit.log", "lock", "etcd", "pki", "localcluster.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	lock, err := os.ReadFile(filepath.Join(dir, "lock"))
	if got := strings.TrimSpace(string(lock)); err != nil || got != strconv.Itoa(p.pid()) {
		t.Errorf("the lock holds %q, %v; want the process id %d", got, err, p.pid())
	}
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
	for _, name := range []string{"lock", "etcd.sock"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s still exists (%v)", name, err)
		}
	}
	if text := p.stderr.String(); strings.Count(text, "\n") > 3 {
		t.Errorf("more than a few lines on standard error:\n%s", text)
	}
}
