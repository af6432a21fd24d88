/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/controller"
)

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
// event for the queue: their errors are retried like those that Outcome was given. A success ends the object's back-off; others that
// were released by it have to be enqueued.
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

// succeeded forgets an object. If it was refused before, succeeded returns some of the other refused objects of its namespace, whose
// cause may have ended as well.
func (f *Failures) succeeded(key types.NamespacedName) []types.NamespacedName {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, failed := f.objects[key]
	if !failed {
		return nil
	}
	f.remove(key)
	if !o.refused {
		return nil
	}
	var others []types.NamespacedName
	for other := range f.refused[key.Namespace] {
		if len(others) == released {
			break
		}
		others = append(others, other)
	}
	f.refused[key.Namespace].Delete(others...)
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
	f.refused[key.Namespace].Delete(key)
	if len(f.refused[key.Namespace]) == 0 {
		delete(f.refused, key.Namespace)
	}
}

// retry is a failure as the queue has to see it: neither an event nor a log entry for each time, and no rate limiter.
type retry struct{ err, requeue error }

// Error implements error.
func (r *retry) Error() string { return fmt.Sprintf("%v; %v", r.err, r.requeue) }

// Unwrap makes the requeue visible to the queue, and the failure to everybody else.
func (r *retry) Unwrap() []error { return []error{r.err, r.requeue} }

// IsRetry reports whether the result of a reconciliation is a failure that is retried with back-off.
func IsRetry(err error) bool {
	_, ok := errors.AsType[*retry](err)
	return ok
}
