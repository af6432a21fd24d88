//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfig_Apply_SucceedsAtOnceAndDeleteLeavesNothing runs `ko apply -Rf config/`, without the images, and `ko delete -Rf config/
// --ignore-not-found`. In between it adds and removes the hooks.
func TestConfig_Apply_SucceedsAtOnceAndDeleteLeavesNothing(t *testing.T) {
	c := newCluster(t)
	c.kubectl("wait", "--for=create", "--timeout=1m", "serviceaccount/default", "configmap/kube-root-ca.crt")
	before := c.everything()

	applied := c.kubectl("apply", "--recursive", "--filename", "config")
	for line := range strings.Lines(applied) {
		if !strings.HasSuffix(line, " created\n") {
			t.Errorf("on an empty cluster kubectl apply says %q", line)
		}
	}
	c.kubectl("wait", "--for=condition=Established", "--timeout=1m", "--filename", "config/300-addressableservice.yaml")
	c.awaitAggregation()

	// kubectl says of a disruption budget that it is configured whatever it holds, so the objects themselves are compared.
	versions := func() string {
		return c.kubectl("get", "--recursive", "--filename", "config",
			`--output=jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	first := versions()
	c.kubectl("apply", "--recursive", "--filename", "config")
	if diff := cmp.Diff(first, versions()); diff != "" {
		t.Errorf("config/ was applied again, and that wrote objects (-before +after):\n%s", diff)
	}

	const hooks = "kustomize/overlays/hooks"
	c.kubectl("apply", "--filename", hooks)
	c.kubectl("delete", "--filename", hooks, "--timeout=2m")
	if left := c.kubectl("get", "--filename", hooks, "--ignore-not-found", "--output=name"); left != "" {
		t.Errorf("the hooks were deleted, and there are still %s", left)
	}
	if diff := cmp.Diff(first, versions()); diff != "" {
		t.Errorf("the hooks were applied and deleted, and that wrote objects of config/ (-before +after):\n%s", diff)
	}

	// The first object is the namespace of most others, which may be deleted with it before kubectl requests that.
	c.kubectl("delete", "--recursive", "--filename", "config", "--timeout=2m", "--ignore-not-found")
	if diff := cmp.Diff(before, c.everything()); diff != "" {
		t.Errorf("config/ was applied and deleted, and the cluster is another one (-before +after):\n%s", diff)
	}
}

// awaitAggregation waits until the cluster has filled the role that collects those of Addressable kinds.
func (c *cluster) awaitAggregation() {
	c.t.Helper()
	c.kubectl("wait", "--for=jsonpath={.rules[0].resources[0]}=addressableservices", "--timeout=1m", "clusterrole/mallard-addressable-resolver")
}
