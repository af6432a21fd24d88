//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// BenchmarkApplyToFirstReady compares how long it takes from `ko apply` of the operator until a first sample is Ready with
// how long the control plane itself takes to start, on the same machine one after the other. The images have been built
// before. The metric ready/start says how many such starts an installation takes.
func BenchmarkApplyToFirstReady(b *testing.B) {
	binary, err := controlplane.Build(b.Context(), io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	env := harness.Shared(b)
	env.Ko(b, root, "resolve", platform, "--recursive", "--filename", "config/")
	var start, ready time.Duration
	for b.Loop() {
		began := time.Now()
		cluster, err := controlplane.Start(b.Context(), controlplane.Options{Binary: binary, Dir: filepath.Join(b.TempDir(), "cluster")})
		if err != nil {
			b.Fatal(err)
		}
		start += time.Since(began)
		if err := cluster.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}

		began = time.Now()
		env.Ko(b, root, "apply", platform, "--sbom=none", "--recursive", "--filename", "config/")
		env.Kubectl(b, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
		// An object that is created before the webhook has registered itself has no class, so that no controller reconciles it.
		env.Kubectl(b, "wait", "--for=condition=Available", "deployment", "--all", "--namespace", env.SystemNamespace, "--timeout=60s")
		env.Kubectl(b, "apply", "--filename", filepath.Join(root, "samples", "100-addressableservice.yaml"))
		env.Kubectl(b, "wait", "--for=condition=Ready", "asvc/hello", "--timeout=60s")
		ready += time.Since(began)
		env.Kubectl(b, "delete", "--filename", filepath.Join(root, "samples", "100-addressableservice.yaml"), "--timeout=60s")
		remove(b, env, root)
	}
	b.ReportMetric(ready.Seconds()/start.Seconds(), "ready/start")
}
