//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestRun_CommandSucceeds_LeavesNothing(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--", "true")
	if status := p.exit(); status != 0 {
		t.Errorf("got exit status %d, want 0", status)
	}
	p.leavesNothing()
}

func TestRun_CommandFails_StatusIsReturnedAndLogsAreKept(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--", "sh", "-c", `test -s "$LOCALCLUSTER_KUBECONFIG" && echo "it has a kubeconfig"; exit 7`)
	if status := p.exit(); status != 7 {
		t.Errorf("got exit status %d, want that of the command, 7", status)
	}
	p.await("it has a kubeconfig", "sh has failed with exit status 7", "the logs are in "+p.temp)
}

func TestRun_InterruptDuringACommand_StopsBoth(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--", "sh", "-c", "echo it runs; sleep 1000")
	p.await("it runs")
	p.signal(syscall.SIGTERM)
	if status := p.exit(); status != 128+int(syscall.SIGTERM) {
		t.Errorf("got exit status %d, want that of SIGTERM", status)
	}
	p.leavesNothing()
}

var exported = regexp.MustCompile(`export KUBECONFIG=(\S+)`)

// The end of the suite searches the logs of make run, which has applied the samples, for the private key of the webhook.
func TestMakeRun_Running_SuiteSharesIt(t *testing.T) {
	t.Parallel()
	p := startCommand(t, nil, "make", "run")
	p.await("export KUBECONFIG=")
	kubeconfig := exported.FindStringSubmatch(p.text())[1]
	report := filepath.Join(t.TempDir(), "report")
	suite := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "./test/addressbinding", "-run", "TestAddressBinding_CRDWithATemplate")
	suite.Dir, suite.Env = "../..", append(os.Environ(), "LOCALCLUSTER_KUBECONFIG="+kubeconfig, "LOCALCLUSTER_REPORT="+report)
	if out, err := suite.CombinedOutput(); err != nil {
		t.Errorf("go test with a shared environment: %v\n%s", err, out)
	}
	if content, err := os.ReadFile(report); err != nil || strings.Contains(string(content), "\tup") || !strings.Contains(string(content), "addressbinding.test") {
		t.Errorf("the suite reports %q, %v, want no control plane that it has started", content, err)
	}
}
