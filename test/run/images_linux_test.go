//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRunImages_Samples_BecomeReady(t *testing.T) {
	t.Parallel()
	p := start(t, deadProxy, "--via=ko", "--config=config", "--config=kustomize/overlays/hooks", "--wait=ready")
	if status := p.exit(); status != 0 {
		t.Fatalf("got exit status %d, want 0", status)
	}
	for _, line := range []string{
		"✓ Control plane built", "✓ ko built", "✓ Control plane started", "Building github.com/mallard-dev/mallard/cmd/controller",
		"Building github.com/mallard-dev/mallard/cmd/hooks", "✓ Applied config/ and kustomize/overlays/hooks/ ",
		"✓ Operator ready", "✓ Applied samples/ ",
		"  export KO_DOCKER_REPO=127.0.0.1:", "  export KO_DEFAULTBASEIMAGE=127.0.0.1:", "✓ Ready: 5 samples", "✓ Stopped",
	} {
		if !strings.Contains(p.text(), line) {
			t.Errorf("it did not print %q", line)
		}
	}
	p.leavesNothing()
}

func TestRunImages_Interrupt_StopsCleanly(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"Applying":         {"Applying config/"},
		"StartingOperator": {"Starting the operator"},
		"Running":          running,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, "--via=ko")
			p.await(lines...)
			p.signal(syscall.SIGINT)
			if status := p.exit(); status != interrupted {
				t.Errorf("got exit status %d, want %d", status, interrupted)
			}
			p.leavesNothing()
		})
	}
}

func TestRunImages_ProcessDies_IsReported(t *testing.T) {
	t.Parallel()
	config := copyConfig(t)
	replace(t, filepath.Join(config, "controller.yaml"), "name: K_THREADS_PER_CONTROLLER\n              value: \"8\"", "name: K_THREADS_PER_CONTROLLER\n              value: \"none\"")
	p := start(t, nil, "--via=ko", "--config="+config)
	if status := p.exit(); status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	for _, text := range []string{"waiting until Deployment knative-samples/controller is available: container controller of Pod controller-", "CrashLoopBackOff", "value \"none\" of K_THREADS_PER_CONTROLLER"} {
		if !strings.Contains(p.text(), text) {
			t.Errorf("it did not print %q", text)
		}
	}
	p.leavesNothing()
}
