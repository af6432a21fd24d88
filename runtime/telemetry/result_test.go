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

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/failures"
)

func TestResultIsWhatTheQueueMakesOfIt(t *testing.T) {
	plain := errors.New("no")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "a", plain)
	failed := func(err error) error {
		return failures.New().Outcome(&duckv1.KResource{}, failures.Failed("Reason", err))
	}
	for name, tc := range map[string]struct {
		err    error
		want   Result
		failed bool
	}{
		"nothing":               {nil, ResultSuccess, false},
		"skip":                  {controller.NewSkipKey("ns/a"), ResultSkip, false},
		"requeue":               {controller.NewRequeueAfter(time.Second), ResultRequeue, false},
		"requeue now":           {controller.NewRequeueImmediately(), ResultRequeue, false},
		"wrapped requeue":       {fmt.Errorf("later: %w", controller.NewRequeueAfter(time.Second)), ResultRequeue, false},
		"conflict":              {conflict, ResultConflict, false},
		"wrapped conflict":      {fmt.Errorf("writing: %w", conflict), ResultConflict, false},
		"error":                 {plain, ResultError, true},
		"permanent error":       {controller.NewPermanentError(plain), ResultPermanentError, true},
		"event in an error":     {fmt.Errorf("and: %w", reconciler.NewEvent(corev1.EventTypeWarning, "Bad", "bad")), ResultError, true},
		"permanent conflict":    {controller.NewPermanentError(conflict), ResultConflict, false},
		"skip around an error":  {errors.Join(controller.NewSkipKey("ns/a"), plain), ResultSkip, false},
		"failed request":        {failed(plain), ResultError, true},
		"failed with conflict":  {failed(conflict), ResultConflict, false},
		"requeue and permanent": {errors.Join(controller.NewPermanentError(plain), controller.NewRequeueImmediately()), ResultRequeue, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := ResultOf(tc.err)
			if got != tc.want || got.failed() != tc.failed {
				t.Errorf("result %s, failed %t; want %s, %t", got, got.failed(), tc.want, tc.failed)
			}
		})
	}
}
