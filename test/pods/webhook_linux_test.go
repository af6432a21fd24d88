//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func awaitNoPods(t *testing.T, env *harness.Env, component string) {
	t.Helper()
	harness.Eventually(t, "no Pod of the "+component+" is left", func(ctx context.Context) error {
		pods, err := podsOf(ctx, env, component)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d are", len(pods))
		}
		return err
	})
}

// TestRollout_EachDeployment_NoRequestFails restarts each Deployment under a stream of creates, of which none may fail.
func TestRollout_EachDeployment_NoRequestFails(t *testing.T) {
	for _, component := range []string{"webhook", "controller"} {
		t.Run(component, func(t *testing.T) {
			env := harness.Shared(t)
			awaitRunning(t, env, component, 2)
			ns := env.Namespace(t)
			mark := env.Mark(t)
			before := running(t, env, component)
			stream := fixtures.StartStream(t, env, ns, period)
			env.Kubectl(t, "rollout", "restart", "deployment/"+component, "--namespace", env.SystemNamespace)
			env.Kubectl(t, "rollout", "status", "deployment/"+component, "--namespace", env.SystemNamespace, "--timeout=5m")
			harness.Eventually(t, "the previous Pods are deleted", func(ctx context.Context) error {
				for i := range before {
					if _, err := env.Kube.CoreV1().Pods(env.SystemNamespace).Get(ctx, before[i].Name, metav1.GetOptions{}); err == nil {
						return fmt.Errorf("%s still exists", before[i].Name)
					}
				}
				return nil
			})
			names := stream.Stop(t)
			fixtures.AwaitReady(t, env, ns, len(names))
			noneTwice(t, env, mark, ns, names, false)
		})
	}
}
