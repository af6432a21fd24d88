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
	"path/filepath"
	"syscall"
	"testing"
)

// moments of a start, each recognized by the file that is made last before it. Between them lies everything that takes
// time: initialization, keys, etcd, the API server, the roles, the controllers.
var moments = []string{
	"", // as soon as the process exists
	"lock",
	"pki/ca.key",
	"pki/apiserver.key",
	"localcluster.log",
	"etcd/member",
	"etcd/member/snap/db",
	"etcd.sock",
	"audit-policy.yaml",
	"audit.log",
	"admin.kubeconfig",
}

// TestStart_Interrupted_LeavesNothing interrupts a start at each of the moments. The folder shows its progress; that a
// temporary one is removed is tested with the same steps in TestStart_TemporaryInterrupted_RemovesTheFolder.
func TestStart_Interrupted_LeavesNothing(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, moment := range moments {
			t.Run(fmt.Sprintf("%v at %s", signal, moment), func(t *testing.T) {
				dir := t.TempDir()
				p, err := spawn("up", "--dir", dir)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(p.end)
				waitForFile(t, p, filepath.Join(dir, moment))
				p.signal(t, signal)
				assertStopped(t, p, moment)
				if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the lock still exists (%v)", err)
				}
			})
		}
	}
}

// TestStart_InterruptedRepeatedly_FolderStillWorks interrupts starts with the same folder, which then still works. The moments are those whose
// files a stop removes.
func TestStart_InterruptedRepeatedly_FolderStillWorks(t *testing.T) {
	dir := t.TempDir()
	for _, moment := range []string{"lock", "etcd.sock", "lock", "etcd.sock"} {
		p, err := spawn("up", "--dir", dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.end)
		waitForFile(t, p, filepath.Join(dir, moment))
		p.signal(t, syscall.SIGINT)
		assertStopped(t, p, moment)
	}
	waitForDefault(t, up(t, "--dir", dir).client(t))
}

func TestStart_TemporaryInterrupted_RemovesTheFolder(t *testing.T) {
	for _, moment := range moments {
		t.Run("at "+moment, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			p, err := spawn("up", "--until-eof")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.end)
			if moment != "" {
				waitForFile(t, p, filepath.Join(os.Getenv("TMPDIR"), "*", moment))
			}
			// The second way to stop a start.
			if err := p.stdin.Close(); err != nil {
				t.Fatal(err)
			}
			assertStopped(t, p, moment)
			assertEmpty(t, os.Getenv("TMPDIR"))
		})
	}
}

// TestStart_SecondInterrupt_EndsCleanly checks that an impatient user gets the same clean end.
func TestStart_SecondInterrupt_EndsCleanly(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := up(t)
	for range 5 {
		p.signal(t, syscall.SIGINT)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
	assertEmpty(t, os.Getenv("TMPDIR"))
}

func waitForFile(t *testing.T, p *process, pattern string) {
	t.Helper()
	eventually(t, "the appearance of "+pattern, func(context.Context) error {
		select {
		case <-p.done:
			t.Fatalf("it ended by itself: %v\n%s", p.err, p.stderr.String())
		default:
		}
		if found, err := filepath.Glob(pattern); err != nil || len(found) == 0 {
			return fmt.Errorf("not there (%w)", err)
		}
		return nil
	})
}

// assertStopped checks that the process exits in order and reports no error.
func assertStopped(t *testing.T, p *process, moment string) {
	t.Helper()
	code := p.wait(t)
	// In its first two milliseconds a process cannot have registered its signal handlers yet.
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if moment == "" && ok && status.Signaled() {
		return
	}
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
}
