//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// smallDisk is the first argument that makes the test program a helper: it mounts a small disk that only it and what it
// becomes can see, and becomes the program under test with a cluster on that disk.
const smallDisk = "small-disk"

// notAllowed is the helper's exit code where only root may mount.
const notAllowed = 77

// helper does the helper's part.
func helper(args []string) bool {
	if len(args) < 5 || args[1] != smallDisk {
		return false
	}
	mount, size, command := args[2], args[3], args[4:]
	fail := func(doing string, err error) {
		fmt.Fprintln(os.Stderr, doing, err)
		if errors.Is(err, fs.ErrPermission) {
			os.Exit(notAllowed)
		}
		os.Exit(3)
	}
	// Mounts made here must not be visible outside.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fail("making mounts private:", err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size="+size); err != nil {
		fail("mounting a small disk:", err)
	}
	fail("running the program:", syscall.Exec(command[0], command, os.Environ()))
	return true
}

// upOnSmallDisk starts a cluster on a disk of the given size, in separate namespaces, which ordinary users may make on
// most machines. disk is its path for this process.
func upOnSmallDisk(t *testing.T, size string) (p *process, disk string) {
	t.Helper()
	mount := t.TempDir()
	return runOnSmallDisk(t, mount, size, "up", "--dir", filepath.Join(mount, "cluster"))
}

// runOnSmallDisk runs the program under test where a folder is a disk of the given size.
func runOnSmallDisk(t *testing.T, mount, size string, args ...string) (p *process, disk string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{smallDisk, mount, size, binary}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	p, err := spawnCommand(cmd)
	if errors.Is(err, fs.ErrPermission) {
		skipNotAllowed(t)
	}
	if err != nil {
		t.Fatalf("making namespaces: %v", err)
	}
	t.Cleanup(p.end)
	eventually(t, "the small disk", func(context.Context) error {
		select {
		case <-p.done:
			if p.cmd.ProcessState.ExitCode() == notAllowed {
				skipNotAllowed(t)
			}
			return nil
		default:
		}
		if name, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(p.pid()), "exe")); err != nil || name != binary {
			return fmt.Errorf("the helper is still %q (%w)", name, err)
		}
		return nil
	})
	return p, filepath.Join("/proc", strconv.Itoa(p.pid()), "root", mount)
}

// skipNotAllowed ends a test on machines where ordinary users are not allowed to mount anything, not even in their own namespace.
// There, what happens on a full disk is shown by the test of package cluster alone, which makes the numbers up.
func skipNotAllowed(t *testing.T) {
	t.Helper()
	t.Skip("this machine lets only root mount a small disk; run it as root, or see the test of package cluster")
}

func TestDisk_TooSmallToStart_IsReported(t *testing.T) {
	p, _ := upOnSmallDisk(t, "100m")
	if code := p.wait(t); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.oneErrorLine(t, "too full", "99 MiB are free and 256 MiB are needed", "free some space", "--dir")
}

// TestDisk_FillsSlowly_ClusterStops fills the disk bit by bit, as a forgotten benchmark does: the cluster stops while it still can.
func TestDisk_FillsSlowly_ClusterStops(t *testing.T) {
	p, disk := upOnSmallDisk(t, "300m")
	if err := p.waitReady(); err != nil {
		t.Fatal(err)
	}
	fill(t, disk, 60<<20)
	if code := p.wait(t); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.oneErrorLine(t, "too full", "80 MiB are needed", "free some space")
}

// TestDisk_FullAtOnce_ClusterStops fills the whole disk while a client writes: whichever part detects it first, the cluster stops in the
// same way.
func TestDisk_FullAtOnce_ClusterStops(t *testing.T) {
	p, disk := upOnSmallDisk(t, "300m")
	if err := p.waitReady(); err != nil {
		t.Fatal(err)
	}
	// Only the cluster uses the file.
	p.kubeconfig = filepath.Join(disk, "cluster", "admin.kubeconfig")
	client := p.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, _ = client.CoreV1().Pods("default").Create(ctx, pod(fmt.Sprint("p-", i)), metav1.CreateOptions{})
		}
	}()
	fill(t, disk, 0)
	if code := p.wait(t); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.oneErrorLine(t, "disk", "full", "free some space")
}

// fill writes to a disk until no more than a rest of bytes is free.
func fill(t *testing.T, disk string, rest uint64) {
	t.Helper()
	file, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	chunk := make([]byte, 1<<20)
	for {
		var stat syscall.Statfs_t
		if err := syscall.Fstatfs(int(file.Fd()), &stat); err != nil {
			t.Fatal(err)
		}
		if stat.Bavail*uint64(stat.Bsize) <= rest {
			return
		}
		if _, err := file.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
