/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
)

// client-go repeats such a watch without its watch error handler.
func TestHealth_WatchIsRefused_IsReportedUntilSomethingIsReceived(t *testing.T) {
	quiet(t)
	for reason, err := range map[string]error{"ConnectionRefused": errRefused, "TooManyRequests": apierrors.NewTooManyRequests("later", 1)} {
		for mode, streamed := range map[string]bool{"Streamed": true, "Listed": false} {
			t.Run(reason+mode, func(t *testing.T) {
				clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
				synctest.Test(t, func(t *testing.T) { expectReported(t, err) })
			})
		}
	}
}

func expectReported(t *testing.T, reason error) {
	t.Helper()
	ctx, _ := newProcess(t)
	server := newAPIServer()
	// Before the first list.
	server.reject(reason)
	subscription, err := Subscribe(ctx, "it", ofSecrets(server), ignoreSecret)
	if err != nil {
		t.Fatal(err)
	}
	pass(10 * time.Second)
	expectError(t, Health(ctx), "the source of it fails since")
	server.reject(nil)
	server.write("first")
	pass(time.Minute)
	if err := Health(ctx); err != nil {
		t.Errorf("after the first list: %v", err)
	}
	server.disconnect(nil)
	pass(time.Minute)
	if err := Health(ctx); err != nil {
		t.Errorf("after a watch that was resumed at once: %v", err)
	}
	server.reject(reason)
	server.disconnect(nil)
	pass(time.Minute)
	expectError(t, Health(ctx), "the source of it fails since")
	server.reject(nil)
	pass(time.Minute)
	server.write("second")
	synctest.Wait()
	if err := Health(ctx); err != nil {
		t.Errorf("after an event: %v", err)
	}
	if err := subscription.Stop(ctx); err != nil {
		t.Error(err)
	}
}
