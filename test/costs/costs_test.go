/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"net/http"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestCosts_Create_IsOneWritePerObject counts the requests for a namespace until each object in it is Ready.
func TestCosts_Create_IsOneWritePerObject(t *testing.T) {
	t.Parallel()
	const objects = 50
	env := harness.Shared(t)
	ns := env.Namespace(t)
	createTarget(t, env, ns)
	mark := env.Mark(t)
	addressableServices.create(t, env, ns, objects, 1).await(t)
	written := 0
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.InNamespace(ns))) {
		if e.Verb == "update" && e.Resource == "addressableservices" && e.Subresource == "status" && e.Code == http.StatusOK {
			written++
		} else {
			t.Errorf("want only successful writes of the status: %+v", e)
		}
	}
	if written != objects {
		t.Errorf("the controller wrote %d statuses, want %d", written, objects)
	}
}
