/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
)

var (
	one         = types.NamespacedName{Namespace: "default", Name: "one"}
	configMaps  = schema.GroupResource{Resource: "configmaps"}
	errConflict = apierrors.NewConflict(configMaps, "one", errors.New("changed"))
)

func newTestBackoff() (*backOff, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Now())
	return newBackoff(clock), clock
}

func TestBackoff_Failures_GrowToThirtySecondsAndEndWithASuccess(t *testing.T) {
	b, clock := newTestBackoff()
	var delays []time.Duration
	for range 7 {
		failed, event := b.result(one, errors.New("down"))
		requeued, delay := controller.IsRequeueKey(event)
		if !requeued || !failed {
			t.Fatalf("result() = %v, %t", event, failed)
		}
		delays = append(delays, delay)
		if wait := b.wait(one); wait <= 0 || wait > firstDelay {
			t.Errorf("an event is held back for %v, want at most a second", wait)
		}
		clock.Step(delay)
	}
	if want := "[1s 2s 4s 8s 16s 30s 30s]"; fmt.Sprint(delays) != want {
		t.Errorf("delays: %v, want %s", delays, want)
	}
	if failed, event := b.result(one, nil); event != nil || failed || b.wait(one) > 0 || len(b.failing) > 0 {
		t.Errorf("after a success: %v, %t", event, failed)
	}
}

// terminating is the API server's error about an object in a namespace that is being deleted.
func terminating() error {
	err := apierrors.NewForbidden(configMaps, "one", errors.New("unable to create new content in namespace default because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: corev1.NamespaceTerminatingCause, Message: "namespace default is being terminated", Field: "metadata.namespace",
	}}
	return err
}

// results are errors of reconciliations, and what becomes of them.
var results = map[string]struct {
	err    error
	delay  time.Duration // 0 if the result is passed on
	failed bool
}{
	"Success":       {},
	"Skip":          {err: controller.NewSkipKey("default/one")},
	"Requeue":       {err: controller.NewRequeueAfter(time.Minute), delay: time.Minute},
	"FailedRequeue": {err: fmt.Errorf("%w; %w", errors.New("down"), controller.NewRequeueAfter(time.Minute)), delay: firstDelay, failed: true},
	"Permanent":     {err: controller.NewPermanentError(errors.New("never"))},
	"Conflict":      {err: errConflict, delay: conflictDelay},
	"RetryAfter":    {err: apierrors.NewTooManyRequests("busy", 7), delay: 7 * time.Second, failed: true},
	"Gone":          {err: apierrors.NewNotFound(configMaps, "one"), delay: firstDelay},
	// The answer of a server without the resource, or of a proxy.
	"NoStatus":             {err: apierrors.NewGenericServerResponse(http.StatusNotFound, "GET", configMaps, "one", "page not found", 0, true), delay: firstDelay, failed: true},
	"AlreadyExists":        {err: fmt.Errorf("creating it: %w", apierrors.NewAlreadyExists(configMaps, "one")), delay: firstDelay},
	"NamespaceTerminating": {err: fmt.Errorf("creating it: %w", terminating()), delay: firstDelay},
	"Quota": {
		err:   apierrors.NewForbidden(configMaps, "one", errors.New("exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=3, limited: count/configmaps=3")),
		delay: firstDelay,
	},
	//lint:ignore ST1005 the API server begins so
	"Forbidden": {err: apierrors.NewForbidden(configMaps, "one", errors.New(`User "u" cannot create resource "configmaps"`)), delay: firstDelay, failed: true},
	// A webhook may use the words of a quota.
	"NoQuota":   {err: apierrors.NewBadRequest("exceeded quota: few"), delay: firstDelay, failed: true},
	"Canceled":  {err: fmt.Errorf("lost leadership of bucket: %w", context.Canceled), delay: firstDelay},
	"NotSynced": {err: fmt.Errorf("reading services: %w", errNotSynced), delay: conflictDelay},
	"Server":    {err: apierrors.NewInternalError(errors.New("etcdserver: request timed out")), delay: firstDelay, failed: true},
	"Failure":   {err: errors.New("down"), delay: firstDelay, failed: true},
}

func TestBackoff_Results_AreRepeatedAndLoggedAsTheirKind(t *testing.T) {
	for name, tc := range results {
		t.Run(name, func(t *testing.T) {
			b, _ := newTestBackoff()
			failed, event := b.result(one, tc.err)
			if _, delay := controller.IsRequeueKey(event); delay != tc.delay || failed != tc.failed || !errors.Is(event, tc.err) {
				t.Errorf("result() = %v, %t, want a delay of %v, %t", event, failed, tc.delay, tc.failed)
			}
		})
	}
}

// The suites count the lines at the level ERROR for the failed reconciliations.
func TestReconcile_EachFailure_IsOneErrorLine(t *testing.T) {
	for name, tc := range results {
		t.Run(name, func(t *testing.T) {
			p, logs := newProcess(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := types.NamespacedName{Namespace: "default", Name: "done"}
			impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
				return newImpl(ctx, reconcileFunc(func(_ context.Context, key string) error {
					if key == done.String() {
						cancel()
						return nil
					}
					return tc.err
				}))
			})
			// The only worker has handled the result of the first key when it begins with the second one.
			impl.EnqueueKey(one)
			impl.EnqueueKey(done)
			if err := impl.RunContext(ctx, 1); err != nil {
				t.Fatal(err)
			}
			want := 0
			if tc.failed || controller.IsPermanentError(tc.err) {
				want = 1
			}
			if lines := logs.FilterLevelExact(zap.ErrorLevel); lines.Len() != want {
				t.Errorf("%d lines at the level ERROR, want %d: %v", lines.Len(), want, lines.All())
			}
		})
	}
}

// After a lease is lost, the retry of an object is skipped.
func TestBackoff_SkippedKey_IsForgotten(t *testing.T) {
	b, _ := newTestBackoff()
	_, _ = b.result(one, errors.New("down"))
	_, _ = b.result(one, controller.NewSkipKey(one.String()))
	if b.wait(one) > 0 || len(b.failing) > 0 {
		t.Error("the back-off of an earlier term is in force")
	}
}
