/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crash

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

const waitLimit = 10 * time.Second

func received(t *testing.T, r *Reporter) error {
	t.Helper()
	select {
	case err := <-r.Fatal():
		select {
		case <-r.Stuck():
		case <-time.After(waitLimit):
			t.Error("no goroutine is stuck")
		}
		return err
	case <-time.After(waitLimit):
		t.Fatal("no cause arrives")
		return nil
	}
}

// TestCrash_Klog_ReturnsTheLastFatalMessage ends a component by klog, as the API server does, and looks for its last message.
func TestCrash_Klog_ReturnsTheLastFatalMessage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	// klog writes to standard error as it is at that moment.
	kept := os.Stderr
	os.Stderr = file
	t.Cleanup(func() { os.Stderr = kept })

	r := NewReporter(path)
	r.HookKlog()
	klog.Info("all is well")
	go klog.Fatalf("the pond %q is dry", "north")
	if err := received(t, r); err == nil || err.Error() != `the pond "north" is dry` {
		t.Errorf("the cause is %v", err)
	}
}

// TestCrash_KlogExit_ReturnsTheExit ends a component without a fatal message.
func TestCrash_KlogExit_ReturnsTheExit(t *testing.T) {
	r := NewReporter(filepath.Join(t.TempDir(), "missing"))
	r.HookKlog()
	go klog.FlushAndExit(time.Second, 7)
	if err := received(t, r); err == nil || !strings.Contains(err.Error(), "code 7") {
		t.Errorf("the cause is %v", err)
	}
}

func TestCrash_Zap_ReturnsTheFatalMessage(t *testing.T) {
	r := NewReporter("")
	logger := zap.New(zapcore.NewNopCore(), zap.WithFatalHook(r.ZapHook("etcd")))
	go logger.Fatal("failed to commit", zap.Int("n", 1), zap.Error(syscall.ENOSPC))
	err := received(t, r)
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "etcd: failed to commit") {
		t.Errorf("the cause is %v", err)
	}
}

// TestCrash_SeveralFailures_ReturnsTheFirst checks that what follows from a failure does not hide it.
func TestCrash_SeveralFailures_ReturnsTheFirst(t *testing.T) {
	r := NewReporter("")
	r.note(errors.New("first"))
	r.note(errors.New("second"))
	if err := received(t, r); err.Error() != "first" {
		t.Errorf("the cause is %v", err)
	}
}
