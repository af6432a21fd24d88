/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

func TestSource_EqualSources_ShareAWatchThatEndsWithTheLast(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		watches := func(want int) {
			t.Helper()
			harness.Eventually(t, fmt.Sprintf("%d watches", want), func(context.Context) error {
				if n := s.proxy.Watches(s.ours()); n != want {
					return fmt.Errorf("there are %d", n)
				}
				return nil
			})
		}
		ignore := func(context.Context, observe.Event[*corev1.ConfigMap]) error { return nil }
		var subscriptions []*observe.Subscription
		subscribe := func(name string, source observe.Source[*corev1.ConfigMap]) {
			t.Helper()
			subscription, err := observe.Subscribe(s.ctx, name, source, ignore)
			if err != nil {
				t.Fatal(err)
			}
			subscriptions = append(subscriptions, subscription)
		}
		requests := s.proxy.Count(s.ours())
		_ = s.configMaps()
		if n := requests(); n != 0 {
			t.Errorf("a source without an observer has sent %d requests", n)
		}
		subscribe("first", s.configMaps())
		watches(1)
		subscribe("second", s.configMaps())
		subscribe("other", s.configMaps(observe.Labels("other")))
		watches(2)
		for i, left := range []int{2, 1, 0} {
			if err := subscriptions[i].Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			watches(left)
		}
		subscribe("again", s.configMaps())
		watches(1)
		if err := subscriptions[3].Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
