//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"strings"
	"syscall"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMakeRun_KubeconfigOfACluster_SamplesBecomeReadyAndAreRemoved(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Bare(), harness.WithImages())
	before := objects(t, env)
	p := makeRun(t, env.KoEnvironment(t), "KUBECONFIG="+env.Kubeconfig, "CONFIRM=localcluster", "WAIT=ready")
	if status := p.exit(); status != 0 {
		t.Errorf("got exit status %d, want 0", status)
	}
	for _, text := range []string{"✓ Operator ready", "addressableservice/hello  READY=True", "✓ Ready: 5 samples", "✓ Stopped"} {
		if !strings.Contains(p.text(), text) {
			t.Errorf("it did not print %q", text)
		}
	}
	if strings.Contains(p.text(), "control plane") {
		t.Error("it built or started a control plane")
	}
	p.leavesNothing()
	expectSame(t, before, objects(t, env))
}

func TestMakeRun_KubeconfigOfACluster_InterruptRemovesEverything(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Bare(), harness.WithImages())
	before := objects(t, env)
	for _, text := range []string{"Applying config/", "Starting the operator", "Applying samples/", "addressableservice/hello  READY=True"} {
		p := start(t, env.KoEnvironment(t), "--kubeconfig="+env.Kubeconfig, "--confirm=localcluster")
		p.await(text)
		p.signal(syscall.SIGINT)
		if status := p.exit(); status != interrupted {
			t.Errorf("interrupted after %q: got exit status %d, want %d", text, status, interrupted)
		}
		p.leavesNothing()
		expectSame(t, before, objects(t, env))
	}
}
