/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

const (
	// FirstRecheck is the first delay of an object's back-off, and the shortest time between two reconciliations of an object whose
	// requests fail.
	FirstRecheck = time.Second
	// LastRecheck is the longest delay of an object's back-off.
	LastRecheck = 30 * time.Second
	// conflictDelay is the delay after a first conflict: the event of the concurrent change usually arrives within that time.
	conflictDelay = 100 * time.Millisecond
	// rejectionInterval is the average time between the retries of one namespace's rejected objects.
	rejectionInterval = 500 * time.Millisecond
	// released is the number of rejected objects of a namespace that are enqueued when the requests of one succeed. More than one of them has to
	// succeed for the release to reach all objects that had the same cause.
	released = 4
	// steadyFor is the time for which a message is kept, so that a condition does not show an outdated one indefinitely.
	steadyFor = 5 * time.Minute
)

// Failures decides when objects whose requests failed are reconciled again. It may be used by several goroutines. Use New.
type Failures struct {
	clock   clock.PassiveClock
	backoff *flowcontrol.Backoff

	mu      sync.Mutex
	objects map[types.NamespacedName]*failing
	// rejected holds the rejected objects of a namespace, except those that were released.
	rejected map[string]sets.Set[types.NamespacedName]
}

// failing is an object whose requests fail.
type failing struct {
	// notBefore is the time before which the object is not reconciled, whatever enqueues it.
	notBefore time.Time
	// rejected reports whether the API server rejected its last request.
	rejected bool

	// status is the one that the object was left with, and since is when its messages were new.
	status     duckv1.Status
	since      time.Time
	uid        types.UID
	generation int64
}

// New returns an empty Failures.
func New() *Failures { return NewWithClock(clock.RealClock{}) }

// NewWithClock is New for tests that set the time.
func NewWithClock(clock clock.Clock) *Failures {
	return &Failures{
		clock:    clock,
		backoff:  flowcontrol.NewFakeBackOff(FirstRecheck, LastRecheck, clock),
		objects:  map[types.NamespacedName]*failing{},
		rejected: map[string]sets.Set[types.NamespacedName]{},
	}
}

// Outcome returns the result of ReconcileKind or FinalizeKind for the failures of its steps, which may be nil. A failed request is
// retried with back-off, and takes precedence over the earliest Recheck. Outcome returns nil if a watch reports every change that
// could end the failures.
//
// It must be called after the conditions were marked: if a condition failed with the same reason before, its message is kept.
func (f *Failures) Outcome(obj duckv1.KRShaped, steps ...*Failure) reconciler.Event {
	var recheck time.Duration
	var reasons []string
	var err error
	for _, step := range steps {
		switch {
		case step == nil:
		case step.Err != nil:
			reasons, err = append(reasons, step.Reason), cmp.Or(err, step.Err)
		case step.Recheck > 0 && (recheck == 0 || step.Recheck < recheck):
			recheck = step.Recheck
		}
	}
	if err != nil {
		key := cache.MetaObjectToName(obj).AsNamespacedName()
		f.keepMessages(key, obj, reasons)
		return f.retry(key, err)
	}
	if recheck > 0 {
		return controller.NewRequeueAfter(recheck)
	}
	return nil
}

// keepMessages restores the messages of conditions that have failed with the same reasons before. The text of an error may differ
// each time (ports, request IDs, quota usage), and each status update enqueues the object.
func (f *Failures) keepMessages(key types.NamespacedName, obj duckv1.KRShaped, reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, now, status := f.object(key), f.clock.Now(), obj.GetStatus()
	if o.uid != obj.GetUID() || o.generation != obj.GetGeneration() || now.Sub(o.since) >= steadyFor {
		o.uid, o.generation, o.since, o.status = obj.GetUID(), obj.GetGeneration(), now, duckv1.Status{}
	}
	for i := range status.Conditions {
		is := &status.Conditions[i]
		was := o.status.GetCondition(is.Type)
		if was != nil && was.Status == is.Status && was.Reason == is.Reason && slices.Contains(reasons, is.Reason) {
			is.Message = was.Message
		}
	}
	o.status = *status.DeepCopy()
}

// retry returns the event that enqueues an object again after its back-off.
func (f *Failures) retry(key types.NamespacedName, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, now := f.object(key), f.clock.Now()
	f.backoff.Next(key.String(), now)
	delay := f.backoff.Get(key.String())
	if apierrors.IsConflict(err) && delay == FirstRecheck {
		delay = conflictDelay
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		delay = max(delay, time.Duration(seconds)*time.Second)
	}
	if o.rejected = isRejection(err); o.rejected {
		if f.rejected[key.Namespace] == nil {
			f.rejected[key.Namespace] = sets.New[types.NamespacedName]()
		}
		// Any user can create objects that are always rejected. Below LastRecheck they are few enough for the back-off.
		if paced := time.Duration(f.rejected[key.Namespace].Insert(key).Len()) * rejectionInterval; paced > LastRecheck {
			delay = max(delay, paced)
		}
	}
	o.notBefore = now.Add(min(delay, FirstRecheck))
	return &retry{fmt.Errorf("%w; %w", err, controller.NewRequeueAfter(delay))}
}

// isRejection reports whether the API server rejected a request because of what it contains or who sent it.
func isRejection(err error) bool {
	switch code := StatusCode(err); code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

func (f *Failures) object(key types.NamespacedName) *failing {
	o, ok := f.objects[key]
	if !ok {
		o = &failing{}
		f.objects[key] = o
	}
	return o
}

// Wait returns for how long an object is not reconciled yet: whatever enqueues it, an object that fails is not reconciled more than
// once in FirstRecheck.
func (f *Failures) Wait(key types.NamespacedName) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o, ok := f.objects[key]; ok {
		return o.notBefore.Sub(f.clock.Now())
	}
	return 0
}

// Result takes the result of a generated reconciler, whose own requests (status update, finalizer patch) may fail, too, and returns the
// event for the queue. A success ends the object's back-off; others that were released by it have to be enqueued.
func (f *Failures) Result(key types.NamespacedName, err error) (released []types.NamespacedName, event error) {
	requeue, _ := controller.IsRequeueKey(err)
	switch {
	case IsRetry(err):
		return nil, err
	case err == nil, requeue, controller.IsSkipKey(err):
		return f.succeeded(key), err
	default:
		return nil, f.retry(key, err)
	}
}

// succeeded forgets an object. If it was rejected before, succeeded returns some of the other rejected objects of its namespace, whose
// cause may have ended as well.
func (f *Failures) succeeded(key types.NamespacedName) []types.NamespacedName {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, failed := f.objects[key]
	if !failed {
		return nil
	}
	f.remove(key)
	if !o.rejected {
		return nil
	}
	var others []types.NamespacedName
	for range released {
		if other, ok := f.rejected[key.Namespace].PopAny(); ok {
			others = append(others, other)
		}
	}
	return others
}

// Forget drops what is known of the objects that a filter accepts: another process reconciles them now.
func (f *Failures) Forget(filter func(types.NamespacedName) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.objects {
		if filter(key) {
			f.remove(key)
		}
	}
}

func (f *Failures) remove(key types.NamespacedName) {
	f.backoff.Reset(key.String())
	delete(f.objects, key)
	f.rejected[key.Namespace].Delete(key)
	if len(f.rejected[key.Namespace]) == 0 {
		delete(f.rejected, key.Namespace)
	}
}
