/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/expectations"
)

// Guard wraps a generated reconciler, whose own requests (status update, finalizer patch) may fail, too: their errors are retried
// like those that Outcome is given. It keeps an object that fails from being reconciled more than once in FirstRecheck, whatever
// enqueues it, and ends its back-off when it succeeds. enqueue adds a key to the reconciler's queue.
func (f *Failures) Guard(generated controller.Reconciler, enqueue func(types.NamespacedName)) expectations.LeaderAware {
	return &guard{LeaderAware: generated.(expectations.LeaderAware), failures: f, enqueue: enqueue} //nolint:forcetypeassert // at the start
}

type guard struct {
	expectations.LeaderAware

	failures *Failures
	enqueue  func(types.NamespacedName)
}

// Reconcile implements controller.Reconciler.
func (g *guard) Reconcile(ctx context.Context, key string) error {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("reading the key: %w", err)
	}
	object := name.AsNamespacedName()
	if wait := g.failures.early(object); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	err = g.LeaderAware.Reconcile(ctx, key)
	requeue, _ := controller.IsRequeueKey(err)
	switch {
	case IsRetry(err):
		return err
	case err == nil, requeue, controller.IsSkipKey(err):
		for _, other := range g.failures.succeeded(object) {
			g.enqueue(other)
		}
		return err
	default:
		return g.failures.retry(object, err)
	}
}

// Demote implements reconciler.LeaderAware. Another process reconciles the bucket's objects from now on.
func (g *guard) Demote(b reconciler.Bucket) {
	g.failures.forget(b.Has)
	g.LeaderAware.Demote(b)
}

// early returns for how long an object is not reconciled yet.
func (f *Failures) early(key types.NamespacedName) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o, ok := f.objects[key]; ok {
		return o.notBefore.Sub(f.clock.Now())
	}
	return 0
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

// forget forgets the objects that a filter accepts.
func (f *Failures) forget(filter func(types.NamespacedName) bool) {
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
