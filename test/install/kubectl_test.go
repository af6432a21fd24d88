/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m, harness.WithOverlay("hooks")) }

// root is the repository's folder, relative to this one.
const root = "../.."

// localcluster is the path of the control plane's program, which is kubectl too.
func localcluster(t *testing.T) string {
	t.Helper()
	binary, err := controlplane.Build(t.Context(), io.Discard)
	if err != nil {
		t.Fatalf("building the control plane: %v", err)
	}
	return binary
}

// kubectl runs kubectl in the repository's folder. It must succeed, and say nothing on standard error, where it passes on
// what the API server warns of.
func kubectl(t *testing.T, binary, kubeconfig, stdin string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, binary, append([]string{"kubectl"}, args...)...)
	command.Dir = root
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+t.TempDir())
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("kubectl %s warns:\n%s", strings.Join(args, " "), stderr.String())
	}
	return stdout.String()
}
