/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"knative.dev/pkg/injection"

	"github.com/mallard-dev/mallard/observe"
)

func TestEnd_PartFailsAndAnObserverIsStuck_BothAreInTheError(t *testing.T) {
	for name, othersEnd := range map[string]bool{"OtherPartsEnd": true, "AnotherPartWaits": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := errors.New("induced")
				process, kill := context.WithCancel(context.Background())
				running, ctx := errgroup.WithContext(process)
				ctx, _ = injection.Fake.SetupInformers(ctx, &rest.Config{})
				release := make(chan struct{})
				calling := stuckObserver(ctx, t, release)
				synctest.Wait()
				if n := calling(); n != 1 {
					t.Fatalf("the observer has %d events, want 1", n)
				}
				drained := make(chan struct{})
				running.Go(func() error { return failure })
				running.Go(func() error {
					<-drained
					if !othersEnd {
						<-release
					}
					return nil
				})
				err := end(ctx, drained, running.Wait)
				if !errors.Is(err, failure) || !strings.Contains(err.Error(), `observer "stuck": the events of 1 objects were not delivered`) {
					t.Errorf("got %v, want an error with both reasons", err)
				}
				close(release)
				kill()
			})
		})
	}
}

// stuckObserver subscribes an observer whose first call ends when release is closed. It returns how many objects the observer has not received.
func stuckObserver(ctx context.Context, t *testing.T, release <-chan struct{}) (pending func() int) {
	t.Helper()
	kube := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it"}})
	configMaps := informers.NewSharedInformerFactory(kube, 0).Core().V1().ConfigMaps()
	go configMaps.Informer().RunWithContext(ctx)
	source := observe.Injected[*corev1.ConfigMap](func(context.Context) coreinformers.ConfigMapInformer { return configMaps })
	if _, err := observe.Subscribe(ctx, "stuck", source, func(context.Context, observe.Event[*corev1.ConfigMap]) error {
		<-release
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return func() int { return observe.Pending(ctx, "stuck") }
}
