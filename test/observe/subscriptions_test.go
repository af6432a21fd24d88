/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

func TestSubscription_StopDuringACall_WaitsForItAndNothingFollows(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for name, o := range ways {
			began, proceed := make(chan struct{}), make(chan struct{})
			var calls atomic.Int64
			subscription, err := observe.Subscribe(s.ctx, name, s.configMaps(), func(context.Context, observe.Event[*corev1.ConfigMap]) error {
				if calls.Add(1) == 1 {
					close(began)
				}
				<-proceed
				return nil
			}, o)
			if err != nil {
				t.Fatal(err)
			}
			var j journal
			s.subscribe(t, name+"-other", j.record, o)
			s.create(t, "first-"+strings.ToLower(name), "1")
			awaitClosed(t, began, "the call begins")
			expired, cancel := context.WithCancel(t.Context())
			cancel()
			if err := subscription.Stop(expired); !errors.Is(err, context.Canceled) {
				t.Errorf("Stop with a context that has ended: got %v, want context.Canceled", err)
			}
			close(proceed)
			if err := subscription.Stop(t.Context()); err != nil {
				t.Errorf("Stop: %v", err)
			}
			before := calls.Load()
			s.create(t, "second-"+strings.ToLower(name), "1")
			harness.Eventually(t, "the other observer receives it", func(context.Context) error {
				for _, entry := range j.read() {
					if entry == "Added second-"+strings.ToLower(name) {
						return nil
					}
				}
				return errors.New("it has not")
			})
			if after := calls.Load(); after != before || before != 1 {
				t.Errorf("%s: the observer was called %d times before Stop returned, and %d times in all, want once", name, before, after)
			}
		}
	})
}

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

func TestSource_AnotherTransform_IsRejected(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var j journal
		s.subscribe(t, "first", j.record)
		other := observe.Transform(func(obj any) (any, error) { return obj, nil })
		if _, err := observe.Subscribe(s.ctx, "second", s.configMaps(other), j.record); err == nil {
			t.Error("two sources with one watch have different transforms, and there is no error")
		}
	})
}
