//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"context"
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
