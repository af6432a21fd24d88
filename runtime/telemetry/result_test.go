/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/failures"
)

func TestResult_Error_EqualsTheReactionOfTheQueue(t *testing.T) {
	plain := errors.New("no")
	things := schema.GroupResource{Resource: "things"}
	conflict := apierrors.NewConflict(things, "a", plain)
	failed := func(err error) error {
		return failures.New().Outcome(&duckv1.KResource{}, failures.Failed("Reason", err))
	}
	for name, tc := range map[string]struct {
		err  error
		want Result
	}{
		"nothing":               {nil, ResultSuccess},
		"skip":                  {controller.NewSkipKey("ns/a"), ResultSkip},
		"requeue":               {controller.NewRequeueAfter(time.Second), ResultRequeue},
		"requeue now":           {controller.NewRequeueImmediately(), ResultRequeue},
		"wrapped requeue":       {fmt.Errorf("later: %w", controller.NewRequeueAfter(time.Second)), ResultRequeue},
		"conflict":              {conflict, ResultConflict},
		"wrapped conflict":      {fmt.Errorf("writing: %w", conflict), ResultConflict},
		"error":                 {plain, ResultError},
		"permanent error":       {controller.NewPermanentError(plain), ResultPermanentError},
		"event in an error":     {fmt.Errorf("and: %w", reconciler.NewEvent(corev1.EventTypeWarning, "Bad", "bad")), ResultError},
		"permanent conflict":    {controller.NewPermanentError(conflict), ResultConflict},
		"skip around an error":  {errors.Join(controller.NewSkipKey("ns/a"), plain), ResultSkip},
		"failed request":        {failed(plain), ResultError},
		"failed with conflict":  {failed(conflict), ResultConflict},
		"failed, not found":     {failed(fmt.Errorf("updating: %w", apierrors.NewNotFound(things, "a"))), ResultRequeue},
		"failed, found already": {failed(apierrors.NewAlreadyExists(things, "a")), ResultRequeue},
		"failed by the quota":   {failed(apierrors.NewForbidden(things, "a", errors.New("exceeded quota: pods, requested: pods=1"))), ResultRequeue},
		"failed, forbidden":     {failed(apierrors.NewForbidden(things, "a", plain)), ResultError},
		"failed, no such path":  {failed(apierrors.NewGenericServerResponse(404, "GET", things, "a", "", 0, true)), ResultError},
		"failed, namespace ends": {failed(&apierrors.StatusError{ErrStatus: metav1.Status{
			Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
		}}), ResultRequeue},
		"failed, canceled":      {failed(context.Canceled), ResultRequeue},
		"not found":             {apierrors.NewNotFound(things, "a"), ResultError},
		"requeue and permanent": {errors.Join(controller.NewPermanentError(plain), controller.NewRequeueImmediately()), ResultRequeue},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ResultOf(tc.err); got != tc.want {
				t.Errorf("result %s, want %s", got, tc.want)
			}
		})
	}
}
