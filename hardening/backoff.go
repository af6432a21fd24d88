/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"knative.dev/pkg/controller"
)

const (
	// firstDelay is the first delay of an object's back-off, and the shortest time between two reconciliations of an object that fails: each update
	// of its status enqueues it.
	firstDelay = time.Second
	// lastDelay is the longest delay. Upstream's grows to 17 minutes.
	lastDelay = 30 * time.Second
	// conflictDelay is the delay after a first conflict, and while a duck informer starts: the event of the other write usually arrives within that
	// time, and so does the first list.
	conflictDelay = 100 * time.Millisecond
)

// backOff decides when the objects of one controller that fail are reconciled again. Upstream's rate limiter shares one bucket among all objects.
type backOff struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	failing map[types.NamespacedName]failing
}

type failing struct {
	delay     time.Duration
	notBefore time.Time
}

func newBackoff(c clock.PassiveClock) *backOff {
	return &backOff{clock: c, failing: map[types.NamespacedName]failing{}}
}

// wait returns for how long an object is not reconciled yet, whatever enqueues it.
func (b *backOff) wait(object types.NamespacedName) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failing[object].notBefore.Sub(b.clock.Now())
}

// result returns the result for the queue, and true first if a failure has to be logged. A requeue that wraps another error is a failure, too.
func (b *backOff) result(object types.NamespacedName, err error) (failed bool, event error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	requeue, _ := controller.IsRequeueKey(err)
	if _, wraps := err.(interface{ Unwrap() []error }); err == nil || requeue && !wraps || // the outermost error
		controller.IsSkipKey(err) || controller.IsPermanentError(err) {
		delete(b.failing, object)
		return false, err
	}
	grown := min(max(2*b.failing[object].delay, firstDelay), lastDelay)
	delay := grown
	if (apierrors.IsConflict(err) || errors.Is(err, errNotSynced)) && delay == firstDelay {
		delay = conflictDelay
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		delay = max(delay, time.Duration(seconds)*time.Second)
	}
	b.failing[object] = failing{grown, b.clock.Now().Add(min(delay, firstDelay))}
	// The requeue is the first of the two: the error may wrap another one.
	return !expected(err), fmt.Errorf("%w; %w", controller.NewRequeueAfter(delay), err)
}

// expected reports whether an error belongs to the normal life of objects, so that it is no line at the level ERROR.
func expected(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ") || errors.Is(err, context.Canceled) || errors.Is(err, errNotSynced)
}
