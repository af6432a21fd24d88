/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/reconciler"
)

// running holds the reconciliations of one controller that are under way. The zero value is empty.
type running struct {
	mu     sync.Mutex
	cancel map[types.NamespacedName]context.CancelCauseFunc
}

// begin returns a context that ends if the process stops leading the object. It does not end with the reconciliation: code that keeps it, such as
// duck.CachedInformerFactory, would fail from then on.
func (r *running) begin(ctx context.Context, object types.NamespacedName) (leading context.Context, end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel == nil {
		r.cancel = map[types.NamespacedName]context.CancelCauseFunc{}
	}
	leading, r.cancel[object] = context.WithCancelCause(ctx)
	return leading, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.cancel, object)
	}
}

// leaderAware cancels the reconciliations of a bucket whose lease is lost: upstream lets them write although another process leads.
type leaderAware struct {
	reconciler.LeaderAware

	hardened *hardened
}

// Promote implements reconciler.LeaderAware. Other processes have written, so what this one knows about its objects has no value.
func (l leaderAware) Promote(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
	l.hardened.backoff.forget(bucket.Has)
	return l.LeaderAware.Promote(bucket, enqueue) //nolint:wrapcheck // it is the result
}

// Demote implements reconciler.LeaderAware. client-go calls it without Promote, too.
func (l leaderAware) Demote(bucket reconciler.Bucket) {
	l.LeaderAware.Demote(bucket)
	if l.hardened.process.off[stopping] {
		return
	}
	r := &l.hardened.running
	r.mu.Lock()
	defer r.mu.Unlock()
	for object, cancel := range r.cancel {
		if bucket.Has(object) {
			// Requests fail with the cause, which is no failure of the object.
			cancel(fmt.Errorf("lost leadership of %s: %w", bucket.Name(), context.Canceled))
		}
	}
}
