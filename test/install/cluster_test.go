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
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// root is the repository's folder, relative to this one.
const root = "../.."

// cluster is a control plane on which nothing is installed.
type cluster struct {
	t                  *testing.T
	binary, kubeconfig string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	binary := localcluster(t)
	started, err := controlplane.Start(t.Context(), controlplane.Options{Binary: binary, Dir: filepath.Join(t.TempDir(), "cluster")})
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	t.Cleanup(func() {
		// The context of the test is over by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := started.Stop(ctx); err != nil {
			t.Errorf("stopping the control plane: %v", err)
		}
	})
	return &cluster{t: t, binary: binary, kubeconfig: started.Kubeconfig()}
}

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

func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	return kubectl(c.t, c.binary, c.kubeconfig, "", args...)
}

// try is kubectl for what may fail, and returns all that it prints.
func (c *cluster) try(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, c.binary, append([]string{"kubectl"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "KUBECACHEDIR="+c.t.TempDir())
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	return string(out), err
}

// everything lists every object there is, except for those that come and go by themselves.
func (c *cluster) everything() []string {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	config.QPS = -1 // no limit
	all, err := harness.Everything(c.t.Context(), config)
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}
