/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

var gauges = schema.GroupResource{Group: "example.com", Resource: "gauges"}

func TestTransient_Errors_AreClassified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"conflict":               {apierrors.NewConflict(gauges, "it", errors.New("changed")), true},
		"too many requests":      {apierrors.NewTooManyRequestsError("later"), true},
		"webhook down":           {apierrors.NewInternalError(errors.New("failed calling webhook")), true},
		"server restarts":        {apierrors.NewServiceUnavailable("later"), true},
		"server timeout":         {apierrors.NewTimeoutError("slow", 1), true},
		"a proxy's error":        {apierrors.NewGenericServerResponse(http.StatusBadGateway, "patch", gauges, "it", "", 0, false), true},
		"connection refused":     {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"connection broken":      {fmt.Errorf("patching: %w", io.ErrUnexpectedEOF), true},
		"request timed out":      {fmt.Errorf("patching: %w", context.DeadlineExceeded), true},
		"rejected by validation": {apierrors.NewInvalid(schema.GroupKind{Kind: "Gauge"}, "it", nil), false},
		"rejected by a webhook":  {apierrors.NewBadRequest("admission webhook denied the request"), false},
		"forbidden":              {apierrors.NewForbidden(gauges, "it", errors.New("no role")), false},
		"not found":              {apierrors.NewNotFound(gauges, "it"), false},
		"expired list":           {apierrors.NewResourceExpired("too old"), false},
		"wrapped":                {fmt.Errorf("reading: %w", apierrors.NewForbidden(gauges, "it", nil)), false},
		"our own":                {fmt.Errorf("reading: %w", errChanged), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := transient(test.err); got != test.want {
				t.Errorf("transient(%v) is %v, want %v", test.err, got, test.want)
			}
		})
	}
}

func newRun(backoff wait.Backoff) *run {
	return &run{migrator: &Migrator{Backoff: backoff}, log: zap.NewNop().Sugar()}
}

func TestTry_TransientErrors_EndsAfterItsAttempts(t *testing.T) {
	t.Parallel()
	tries, down := 0, apierrors.NewInternalError(errors.New("down"))
	err := newRun(wait.Backoff{Duration: time.Nanosecond, Steps: 4}).try(t.Context(), "asking", func(context.Context) error {
		tries++
		return down
	})
	exhausted, ok := errors.AsType[*exhaustedError](err)
	if !ok || exhausted.tries != 4 || tries != 4 || !errors.Is(err, down) {
		t.Errorf("got error %v after %d tries, want the last one after 4", err, tries)
	}
}

func TestTry_RejectedRequest_IsNotRetried(t *testing.T) {
	t.Parallel()
	tries := 0
	err := newRun(defaultBackoff).try(t.Context(), "asking", func(context.Context) error {
		tries++
		return apierrors.NewBadRequest("never")
	})
	if !apierrors.IsBadRequest(err) || tries != 1 {
		t.Errorf("got error %v after %d tries, want one try", err, tries)
	}
}

func TestTry_ContextCanceled_Ends(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	told := errors.New("canceled by the test")
	err := newRun(wait.Backoff{Duration: time.Hour, Steps: 9}).try(ctx, "asking", func(context.Context) error {
		cancel(told)
		return apierrors.NewServiceUnavailable("later")
	})
	if _, ok := errors.AsType[*interruptedError](err); !ok || !errors.Is(err, told) {
		t.Errorf("got error %v, want that it was interrupted, and why", err)
	}
}

// A request is retried for longer than a webhook's Pod takes to be replaced, and not indefinitely.
func TestTry_DefaultBackoff_TakesAboutAMinute(t *testing.T) {
	t.Parallel()
	var all time.Duration
	for b := defaultBackoff; b.Steps > 1; {
		all += b.Step()
	}
	if all < 55*time.Second || all > 80*time.Second {
		t.Errorf("a request is tried for %v, want about a minute", all)
	}
}
