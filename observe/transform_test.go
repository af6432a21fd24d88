/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"knative.dev/pkg/logging"
)

// failForBad is a transform that fails for one object.
func failForBad(obj any) (any, error) {
	if secret, ok := obj.(*corev1.Secret); ok && secret.Name == "bad" {
		return nil, errors.New("induced")
	}
	return obj, nil
}

// client-go drops a change whose transform fails, does not sync a list that has one, and takes such an object of a streamed list for deleted.
func TestTransform_FailsForOneObject_ItIsDeliveredAsItIs(t *testing.T) {
	quiet(t)
	for name, streamed := range map[string]bool{"Streamed": true, "Listed": false} {
		t.Run(name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(logging.WithLogger(t.Context(), zap.NewNop().Sugar()))
				defer cancel()
				ctx, _ = attach(ctx)
				server := newAPIServer()
				server.write("bad")
				server.write("good")
				var received []string
				subscription, err := Subscribe(ctx, "it", ofSecrets(server, Transform(failForBad)), func(_ context.Context, e Event[*corev1.Secret]) error {
					received = append(received, fmt.Sprint(e.Type, " ", e.Name.Name))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				pass(time.Minute)
				server.write("bad")
				pass(time.Minute)
				server.compact()
				server.disconnect(apierrors.NewResourceExpired("compacted"))
				pass(time.Minute)
				server.write("good")
				pass(time.Minute)
				synctest.Wait() // all calls happen before the next line
				slices.Sort(received[:min(2, len(received))])
				if want := []string{"Added bad", "Added good", "Updated bad", "Updated good"}; !slices.Equal(received, want) {
					t.Errorf("received are %q, want %q", received, want)
				}
				if err := subscription.Stop(ctx); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
