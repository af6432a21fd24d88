//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// throttled begins a line that client-go logs for a request that its limit has delayed by more than a second.
const throttled = "Waited before sending request"

func TestEnvironment_ThreadsAndLimits_HaveTheirEffect(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 1), harness.WithProxy("controller"), harness.Without("controller"))
	p := env.Process(t, "controller")
	for _, threads := range []string{"1", "2"} {
		t.Run(threads+" threads", func(t *testing.T) {
			p.SetEnv(map[string]string{"K_THREADS_PER_CONTROLLER": threads})
			p.Start(t)
			defer p.Stop(t)
			ns := env.Namespace(t)
			held := env.Proxy(t, "controller").Hold(harness.Matching("update", "addressableservices/status").And(harness.InNamespace(ns)))
			defer held.Release()
			env.Apply(t, ns, fixtures.Target)
			object := "{apiVersion: samples.knative.dev/v1, kind: AddressableService, metadata: {name: %s}, spec: {ref: {apiVersion: v1, kind: Service, name: target}}}"
			env.Apply(t, ns, fmt.Sprintf(object, "held"))
			held.Wait(t)
			others := append(env.Apply(t, ns, fmt.Sprintf(object, "one")), env.Apply(t, ns, fmt.Sprintf(object, "two"))...)
			if threads == "1" {
				harness.Eventually(t, "the others wait in the queue", func(context.Context) error {
					if depth := fixtures.QueueCount(t, p, "kn_workqueue_depth", "AddressableService"); depth < 2 {
						return fmt.Errorf("there are %v", depth)
					}
					return nil
				})
				for _, ref := range others {
					if o := env.Await(t, ref, harness.Exists); harness.Ready(o) == nil {
						t.Errorf("%s is reconciled while the only thread is busy", ref.Name)
					}
				}
				held.Release()
			}
			for _, ref := range others {
				env.Await(t, ref, harness.Ready)
			}
			if strings.Contains(p.Log(t), throttled) {
				t.Error("the client is limited")
			}
		})
	}
	t.Run("limits", func(t *testing.T) {
		env.ExpectErrors(t, "lease") // the renewals alone exceed the limit
		p.SetEnv(map[string]string{"KUBE_API_QPS": "2", "KUBE_API_BURST": "1"})
		p.Start(t)
		defer p.Stop(t)
		harness.Eventually(t, "the limit delays a request", func(context.Context) error {
			if !strings.Contains(p.Log(t), throttled) {
				return fmt.Errorf("no line contains %q", throttled)
			}
			return nil
		})
	})
}
