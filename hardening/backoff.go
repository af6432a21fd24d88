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
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/flowcontrol"
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
	// rejectionInterval is the average time between the repetitions of one namespace's rejected objects, of which any user can create many.
	rejectionInterval = 500 * time.Millisecond
)

// backOff decides when the objects of one controller that fail are reconciled again. Upstream's rate limiter shares one bucket among all objects.
type backOff struct {
	clock  clock.PassiveClock
	delays *flowcontrol.Backoff

	mu        sync.Mutex
	notBefore map[types.NamespacedName]time.Time
	rejected  map[string]sets.Set[types.NamespacedName]
}

func newBackoff() *backOff { return newBackoffWithClock(clock.RealClock{}) }

func newBackoffWithClock(c clock.Clock) *backOff {
	return &backOff{
		clock: c, delays: flowcontrol.NewFakeBackOff(firstDelay, lastDelay, c),
		notBefore: map[types.NamespacedName]time.Time{}, rejected: map[string]sets.Set[types.NamespacedName]{},
	}
}

// wait returns for how long an object is not reconciled yet, whatever enqueues it.
func (b *backOff) wait(object types.NamespacedName) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.notBefore[object]; ok {
		return t.Sub(b.clock.Now())
	}
	return 0
}

// result returns the result for the queue, and whether a failure has to be logged. A requeue that wraps another error is a failure, too.
func (b *backOff) result(object types.NamespacedName, err error) (event error, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	requeue, _ := controller.IsRequeueKey(err)
	if _, wraps := err.(interface{ Unwrap() []error }); err == nil || requeue && !wraps || //nolint:errorlint // the outermost error
		controller.IsSkipKey(err) || controller.IsPermanentError(err) {
		b.remove(object)
		return err, false
	}
	now := b.clock.Now()
	b.delays.Next(object.String(), now)
	delay := b.delays.Get(object.String())
	if (apierrors.IsConflict(err) || errors.Is(err, errNotSynced)) && delay == firstDelay {
		delay = conflictDelay
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		delay = max(delay, time.Duration(seconds)*time.Second)
	}
	if isRejection(err) {
		if b.rejected[object.Namespace] == nil {
			b.rejected[object.Namespace] = sets.New[types.NamespacedName]()
		}
		// As long as they are few, the back-off of each is enough.
		if paced := time.Duration(b.rejected[object.Namespace].Insert(object).Len()) * rejectionInterval; paced > lastDelay {
			delay = max(delay, paced)
		}
	}
	b.notBefore[object] = now.Add(min(delay, firstDelay))
	// The requeue is the first of the two: the error may wrap another one.
	return fmt.Errorf("%w; %w", controller.NewRequeueAfter(delay), err), !expected(err)
}

// isRejection reports whether the API server rejected a request because of its content or its sender.
func isRejection(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// expected reports whether an error belongs to the normal life of objects, so that it is no line at the level ERROR.
func expected(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ") || errors.Is(err, context.Canceled) || errors.Is(err, errNotSynced)
}

// forget drops the objects that a filter accepts.
func (b *backOff) forget(filter func(types.NamespacedName) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for object := range b.notBefore {
		if filter(object) {
			b.remove(object)
		}
	}
}

func (b *backOff) remove(object types.NamespacedName) {
	if _, ok := b.notBefore[object]; !ok {
		return
	}
	b.delays.Reset(object.String())
	delete(b.notBefore, object)
	if r := b.rejected[object.Namespace]; r.Delete(object).Len() == 0 {
		delete(b.rejected, object.Namespace)
	}
}
