/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"testing"

	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/test/harness"
)

func TestTheControllerIsReadyOnceEachCacheIsFilled(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("controller"), harness.WithProxy("controller"))
	controller := newProbed(t, env, "controller")
	for _, resource := range []string{"addressableservices", "services", "namespaces", "customresourcedefinitions"} {
		held := env.Proxy(t, "controller").Hold(harness.Matching("*", resource))
		started := controller.start(t)
		held.Wait(t)
		controller.awaitUnready(t, "informer caches are not filled yet")
		held.Release()
		started()
		controller.awaitReady(t)
		controller.Stop(t)
	}
}

func TestTheWebhookIsReadyOnceTheAPIServerTrustsIt(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("webhook"), harness.WithProxy("webhook"))
	process := newProbed(t, env, "webhook")
	// These are what only a first start has to write: held one after the other, each in its turn is the last that is missing.
	writes := []harness.Match{
		update("secrets", "webhook-certs"),
		update("mutatingwebhookconfigurations", webhook.DefaultingName),
		update("validatingwebhookconfigurations", webhook.ValidationName),
		update("validatingwebhookconfigurations", webhook.ConfigValidationName),
	}
	held := make([]*harness.Held, 0, len(writes))
	for _, write := range writes {
		held = append(held, env.Proxy(t, "webhook").Hold(write))
	}
	started := process.start(t)
	for _, h := range held {
		h.Wait(t)
		process.awaitUnready(t, "the API server cannot reach the webhook yet")
		h.Release()
	}
	started()
	process.awaitReady(t)
}

// update matches the update of one object.
func update(resource, name string) harness.Match {
	return harness.Matching("update", resource).And(func(r harness.Request) bool { return r.Name == name })
}
