/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// defaultBackoff tries a request nine times within about a minute, which is longer than a webhook or an API server
// takes to be replaced.
var defaultBackoff = wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 9}

// exhaustedError reports that a request failed in all of its attempts, but might succeed later.
type exhaustedError struct {
	tries int
	last  error
}

func (e *exhaustedError) Error() string { return fmt.Sprintf("tried %d times: %v", e.tries, e.last) }
func (e *exhaustedError) Unwrap() error { return e.last }

// interruptedError reports that a request was given up because the process ends.
type interruptedError struct{ cause error }

func (e *interruptedError) Error() string { return fmt.Sprintf("interrupted: %v", e.cause) }
func (e *interruptedError) Unwrap() error { return e.cause }

// transient reports whether the same request may succeed later: the object was changed concurrently, the server is busy or
// fails, or cannot be reached, or a webhook that it calls fails (which the server reports as its own error, 500).
func transient(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		code := status.Status().Code
		return code == http.StatusConflict || code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	}
	return !errors.Is(err, errChanged)
}

// try makes a request until it succeeds, fails for good, or has been tried often enough; then its error is an
// exhaustedError. When ctx ends first, it is an interruptedError.
func (r *run) try(ctx context.Context, what string, request func(context.Context) error) error {
	var last error
	tries := 0
	err := wait.ExponentialBackoffWithContext(ctx, r.migrator.Backoff, func(ctx context.Context) (bool, error) {
		tries++
		if last = request(ctx); last == nil {
			return true, nil
		}
		if ctx.Err() != nil || !transient(last) {
			return false, last
		}
		r.log.Infow("Trying again", "request", what, "tries", tries, "error", last.Error())
		return false, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, &interruptedError{context.Cause(ctx)})
	case wait.Interrupted(err):
		return fmt.Errorf("%s: %w", what, &exhaustedError{tries, last})
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}
