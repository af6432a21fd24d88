/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/failures"
)

func TestResultIsWhatTheQueueMakesOfIt(t *testing.T) {
	plain := errors.New("no")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "a", plain)
	failed := func(err error) error {
		return failures.NewFailures().Outcome(&corev1.Pod{}, failures.Failed("Reason", err))
	}
	for name, tc := range map[string]struct {
		err    error
		want   Result
		next   What
		failed bool
	}{
		"nothing":               {nil, ResultSuccess, "", false},
		"skip":                  {controller.NewSkipKey("ns/a"), ResultSkip, "", false},
		"requeue":               {controller.NewRequeueAfter(time.Second), ResultRequeue, Requeued, false},
		"requeue now":           {controller.NewRequeueImmediately(), ResultRequeue, Requeued, false},
		"wrapped requeue":       {fmt.Errorf("later: %w", controller.NewRequeueAfter(time.Second)), ResultRequeue, Requeued, false},
		"conflict":              {conflict, ResultConflict, Retried, false},
		"wrapped conflict":      {fmt.Errorf("writing: %w", conflict), ResultConflict, Retried, false},
		"error":                 {plain, ResultError, Retried, true},
		"permanent error":       {controller.NewPermanentError(plain), ResultPermanentError, "", true},
		"event in an error":     {fmt.Errorf("and: %w", reconciler.NewEvent(corev1.EventTypeWarning, "Bad", "bad")), ResultError, Retried, true},
		"permanent conflict":    {controller.NewPermanentError(conflict), ResultConflict, Retried, false},
		"skip around an error":  {errors.Join(controller.NewSkipKey("ns/a"), plain), ResultSkip, "", false},
		"failed request":        {failed(plain), ResultError, Retried, true},
		"failed with conflict":  {failed(conflict), ResultConflict, Retried, false},
		"requeue and permanent": {errors.Join(controller.NewPermanentError(plain), controller.NewRequeueImmediately()), ResultRequeue, Requeued, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := resultOf(tc.err)
			next, _ := got.next()
			if got != tc.want || next.What != tc.next || got.failed() != tc.failed {
				t.Errorf("result %s, next %q, failed %t; want %s, %q, %t", got, next.What, got.failed(), tc.want, tc.next, tc.failed)
			}
		})
	}
}
