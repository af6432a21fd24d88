//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/binding"
)

func TestVariableReverted_BacksOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	ab := w.bind(t, "b", byName)
	w.Await(t, ab, harness.Ready)
	mark := w.Mark(t)
	// It stands for what writes behind our webhook, which lets our own field manager pass: for a webhook that takes variables out.
	const period = 50 * time.Millisecond
	undo := harness.Every(t, period, func(ctx context.Context, _ int) error {
		live, err := w.Kube.AppsV1().Deployments(w.ns).Get(ctx, d.Name, getNow)
		if err != nil {
			return fmt.Errorf("reading the Deployment: %w", err)
		}
		for i := range live.Spec.Template.Spec.Containers {
			c := &live.Spec.Template.Spec.Containers[i]
			for j := range c.Env {
				if c.Env[j].Name == "K_ADDRESS" {
					c.Env = c.Env[:j]
					break
				}
			}
		}
		live.Spec.Template.Spec.InitContainers[0].Env = nil
		_, _ = w.Kube.AppsV1().Deployments(w.ns).Update(ctx, live, metav1.UpdateOptions{FieldManager: binding.FieldManager})
		return nil
	})
	w.Await(t, ab, notBound("BindFailed"))
	harness.Eventually(t, "the third patch", func(context.Context) error {
		if n := len(w.patches(t, mark, "deployments")); n < 3 {
			return fmt.Errorf("there were %d", n)
		}
		return nil
	})
	undone, _ := undo.Stop()
	if n := len(w.patches(t, mark, "deployments")); n > 5 || len(undone) < 2*n {
		t.Errorf("there were %d patches while it was undone %d times", n, len(undone))
	}
	w.Await(t, d, has(address))
	w.Await(t, ab, harness.Ready)
}
