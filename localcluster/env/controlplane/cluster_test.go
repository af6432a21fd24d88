//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	startLimit = 90 * time.Second
	waitLimit  = 30 * time.Second
)

// asParent is the argument that makes the test program a parent that starts a cluster, prints its process id and folder,
// and waits to be killed.
const asParent = "controlplane-parent"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asParent {
		c, err := Start(context.Background(), Options{Log: os.Stderr})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(c.PID(), c.Dir())
		<-c.Done()
		return
	}
	code := m.Run()
	if dir, err := goCache(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// start starts a cluster for one test.
func start(t *testing.T, opts Options) *Cluster {
	t.Helper()
	var log watched
	opts.Log = &log
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	c, err := Start(ctx, opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.NewTimer(waitLimit)
	defer deadline.Stop()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("%s: not within %s: %v", what, waitLimit, err)
		case <-ticker.C:
		}
	}
}

func exists(pattern string) func() error {
	return func() error {
		if found, err := filepath.Glob(pattern); err != nil || len(found) == 0 {
			return fmt.Errorf("no %s (%w)", pattern, err)
		}
		return nil
	}
}

func processGone(pid int) func() error {
	return func() error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("process %d exists (%w)", pid, err)
		}
		return nil
	}
}

func TestCluster_StartAndStop_Succeeds(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := start(t, Options{})
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.AuditLog()); err != nil {
		t.Error(err)
	}
	if group, err := syscall.Getpgid(c.PID()); err != nil || group == syscall.Getpgrp() {
		t.Errorf("it is in our process group %d (%v)", group, err)
	}
	for range 2 {
		if err := c.Stop(t.Context()); err != nil {
			t.Errorf("stopping: %v", err)
		}
	}
	if err := c.Err(); err != nil {
		t.Errorf("after a stop: %v", err)
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary folder still exists (%v)", err)
	}
}

// TestCluster_StartCanceled_LeavesNothing ends the context at several moments of the start.
func TestCluster_StartCanceled_LeavesNothing(t *testing.T) {
	for _, moment := range []string{"lock", "etcd.sock", "audit.log"} {
		t.Run(moment, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := Start(ctx, Options{Dir: dir})
				failed <- err
			}()
			eventually(t, "the start", exists(filepath.Join(dir, moment)))
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("the start ended with: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the lock still exists (%v)", err)
			}
		})
	}
}

// TestCluster_ExitsUnexpectedly_IsReported checks that the unexpected exit of a cluster is noticed and explained.
func TestCluster_ExitsUnexpectedly_IsReported(t *testing.T) {
	for signal, want := range map[syscall.Signal]string{
		syscall.SIGTERM: "stopped by another program",
		syscall.SIGKILL: "signal: killed",
	} {
		t.Run(signal.String(), func(t *testing.T) {
			c := start(t, Options{Dir: t.TempDir()})
			if err := syscall.Kill(c.PID(), signal); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.Done():
			case <-time.After(waitLimit):
				t.Fatal("its end is not noticed")
			}
			if err := c.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("it ended with: %v", err)
			}
			if err := c.Stop(t.Context()); err == nil {
				t.Error("stopping it afterwards hides how it ended")
			}
		})
	}
}

// TestCluster_StopWhileItHangs_KillsIt stops a cluster that does not react any more.
func TestCluster_StopWhileItHangs_KillsIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := start(t, Options{})
	if err := syscall.Kill(c.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Stop(ctx); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("stopping ended with: %v", err)
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary folder still exists (%v)", err)
	}
}

// TestCluster_ParentKilled_Exits kills the process that started a cluster, before and after it is ready.
func TestCluster_ParentKilled_Exits(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launch := func(t *testing.T) (*exec.Cmd, *bufio.Scanner) {
		t.Helper()
		t.Setenv("TMPDIR", t.TempDir())
		cmd := exec.Command(binary, asParent)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd, bufio.NewScanner(out)
	}
	assertClean := func(t *testing.T) {
		t.Helper()
		eventually(t, "the end of the cluster's folder", func() error {
			if entries, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(entries) != 0 {
				return fmt.Errorf("there are %v (%w)", entries, err)
			}
			return nil
		})
	}
	t.Run("while it starts", func(t *testing.T) {
		parent, _ := launch(t)
		pattern := filepath.Join(os.Getenv("TMPDIR"), "*", "lock")
		var pid int
		eventually(t, "the start", func() error {
			found, err := filepath.Glob(pattern)
			if err != nil || len(found) == 0 {
				return fmt.Errorf("no %s (%w)", pattern, err)
			}
			text, err := os.ReadFile(found[0])
			if err != nil {
				return err
			}
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
			return err
		})
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the end of the cluster", processGone(pid))
		assertClean(t)
	})
	t.Run("when it is ready", func(t *testing.T) {
		parent, out := launch(t)
		if !out.Scan() {
			t.Fatal("the parent started no cluster")
		}
		var pid int
		var dir string
		if _, err := fmt.Sscan(out.Text(), &pid, &dir); err != nil {
			t.Fatal(err)
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the end of the cluster", processGone(pid))
		assertClean(t)
	})
}
