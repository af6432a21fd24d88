//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// TestTenant_WithV1Alone_StaysInsideItsNamespace runs the attacks that need no older version on config/ as it is.
func TestTenant_WithV1Alone_StaysInsideItsNamespace(t *testing.T) {
	attackAll(t, newCluster(t, harness.Own(t), false))
}

// TestTenant_WithPolicies_StaysInsideItsNamespace runs them on the overlay no-webhooks.
func TestTenant_WithPolicies_StaysInsideItsNamespace(t *testing.T) {
	attackAll(t, newCluster(t, harness.Own(t, harness.WithConfig(fixtures.NoWebhooks(t))), false))
}
