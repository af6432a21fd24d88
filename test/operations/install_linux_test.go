//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"runtime"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// root is the folder of this checkout.
const root = "../.."

// platform keeps ko from building for machines that are not here.
const platform = "--platform=linux/" + runtime.GOARCH

func TestMain(m *testing.M) { harness.Main(m, harness.Bare(), harness.WithImages()) }

func TestKo_ApplySamplesAndDelete_Succeeds(t *testing.T) {
	env := harness.Shared(t)
	awaitRestored := env.Remember(t)
	// Builds the images, so that what is timed is what a user waits for the second time.
	env.Ko(t, root, "resolve", platform, "--recursive", "--filename", "config/")

	began := time.Now()
	env.Ko(t, root, "apply", platform, "--recursive", "--filename", "config/")
	env.Kubectl(t, "wait", "--namespace", "knative-samples", "--for=condition=Available", "deployment", "--all", "--timeout=5m")
	env.Kubectl(t, "apply", "--filename", "../../samples/")
	env.Kubectl(t, "wait", "--for=condition=Ready", "asvc", "--all", "--timeout=5m")
	t.Logf("from ko apply until the samples were Ready: %v", time.Since(began))

	env.Kubectl(t, "delete", "--filename", "../../samples/", "--timeout=5m")
	env.Ko(t, root, "delete", "--recursive", "--filename", "config/", "--timeout=5m")
	awaitRestored()
}
