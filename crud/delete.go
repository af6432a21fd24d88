/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// policies are the propagation policies of the deletions, and the finalizer by which an object shows that it is deleted so. They are always
// sent, since the default depends on the kind.
var policies = map[Type]struct {
	policy    metav1.DeletionPropagation
	finalizer string
}{
	TypeEnsureDeleted:             {metav1.DeletePropagationForeground, metav1.FinalizerDeleteDependents},
	TypeEnsureDeletedInBackground: {metav1.DeletePropagationBackground, ""},
	TypeEnsureDeletedOrphaning:    {metav1.DeletePropagationOrphan, metav1.FinalizerOrphanDependents},
}

// longestWatch bounds the time for which a deletion is awaited only by its event, which may be lost.
const longestWatch = 30 * time.Second

// polling is the back-off between the requests for an object that is being deleted and cannot be watched.
var polling = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 20, Cap: time.Second}

// ensureDeleted deletes the object that it finds, and never one that is created later with the same name.
func (c *call) ensureDeleted(ctx context.Context) error {
	var target types.UID
	return c.retry(ctx, func() error {
		live, err := c.get(ctx)
		switch {
		case err == nil && (target == "" || live.GetUID() == target):
		case err != nil && ClassOf(err) != NotFound:
			return err
		case target == "":
			c.result.Outcome, c.result.Object = AlreadyAbsent, nil
			return nil
		default:
			c.result.Outcome, c.result.Object = Deleted, nil
			return nil
		}
		preconditions := c.op.Preconditions
		if live.GetDeletionTimestamp() != nil {
			preconditions.ResourceVersion = nil // a deletion that has begun has changed it
		}
		if err := errors.Join(checkPreconditions(live, preconditions), c.checkOwner(live)); err != nil {
			return asPrecondition(err)
		}
		target = live.GetUID()
		if !c.isDeletedSo(live) {
			preconditions.UID = &target
			err = c.delete(ctx, policies[c.op.Type].policy, preconditions)
			// What follows decides whether the object that was found is deleted or has changed.
			if class := ClassOf(err); err != nil && class != NotFound && class != Precondition {
				return err
			}
		}
		last, failed := c.awaitGone(ctx, live)
		switch {
		case failed != nil && c.op.Preconditions.ResourceVersion != nil:
			return asPrecondition(failed)
		case failed != nil:
			return failed
		case last != nil:
			c.result.Outcome, c.result.Finalizers = Deleting, last.GetFinalizers()
			return nil
		}
		c.result.Outcome, c.result.Object = Deleted, nil
		if ClassOf(err) == Precondition && c.hasPreconditions() {
			return err // another client has deleted the object
		}
		return nil
	})
}

// asPrecondition makes a conflict final: the caller required a state that no longer exists.
func asPrecondition(err error) error {
	if ClassOf(err) == Conflict {
		return Precondition.of(err)
	}
	return err
}

// isDeletedSo reports whether the object is being deleted with the policy of the operation already.
func (c *call) isDeletedSo(live *unstructured.Unstructured) bool {
	if live.GetDeletionTimestamp() == nil {
		return false
	}
	// The API server shortens a grace period that has begun.
	if wanted, has := c.op.GracePeriodSeconds, live.GetDeletionGracePeriodSeconds(); wanted != nil && (has == nil || *wanted < *has) {
		return false
	}
	finalizers, wanted := live.GetFinalizers(), policies[c.op.Type].finalizer
	if wanted != "" {
		return slices.Contains(finalizers, wanted)
	}
	return !slices.Contains(finalizers, metav1.FinalizerDeleteDependents) && !slices.Contains(finalizers, metav1.FinalizerOrphanDependents)
}

// awaitGone returns nil once the object is deleted, or its last state when Operation.Wait is over. A request that fails does not end the wait.
func (c *call) awaitGone(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.options.DryRun {
		return live, nil // nothing is deleted
	}
	end, backoff := time.Now().Add(c.op.Wait), polling
	for {
		current, err := c.get(ctx)
		switch class := ClassOf(err); {
		case class == NotFound, err == nil && current.GetUID() != live.GetUID():
			return nil, nil //nolint:nilnil // there is no object
		case class == Forbidden, class == Unauthorized, class == Canceled:
			return nil, err
		case err == nil && current.GetDeletionTimestamp() == nil:
			return nil, Conflict.errorf("the object changed before it was deleted")
		case err == nil:
			live = current
		}
		left := time.Until(end)
		if left <= 0 {
			return live, err
		}
		delay := min(backoff.Step(), left)
		if err != nil || !c.awaitEvent(ctx, live, min(left, longestWatch)) {
			sleep(ctx, delay)
		}
		if ctx.Err() != nil {
			return nil, canceled(ctx, errors.New("waiting for the deletion"))
		}
	}
}

// awaitEvent waits until the object changes, at most for a time. It reports false if it cannot watch the object, which needs a permission that
// deletions do not need.
func (c *call) awaitEvent(ctx context.Context, live *unstructured.Unstructured, limit time.Duration) bool {
	if c.cannotWatch {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	events, err := c.objects.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + c.op.Name, ResourceVersion: live.GetResourceVersion()})
	if err != nil {
		c.cannotWatch = true
		return false
	}
	defer events.Stop()
	select {
	case event, ok := <-events.ResultChan():
		return ok && event.Type != watch.Error
	case <-ctx.Done(): // which does not end the watch: a request that was sent is completed
		return true
	}
}

// replaceTerminating creates an object again once the present one is deleted, for which it waits only if the operation requires it.
func (c *call) replaceTerminating(ctx context.Context, live, desired *unstructured.Unstructured) error {
	if c.hasPreconditions() || c.op.Wait == 0 && c.op.OnImmutable != Recreate {
		return terminating(live)
	}
	if c.options.DryRun && c.op.Wait > 0 {
		c.result.Outcome = Replaced // unless a finalizer stays for longer
		return nil
	}
	last, err := c.awaitGone(ctx, live)
	switch {
	case err != nil:
		return err
	case last != nil:
		return terminating(last)
	}
	return c.create(ctx, desired)
}

func terminating(live *unstructured.Unstructured) error {
	waitsFor := "its grace period"
	if finalizers := live.GetFinalizers(); len(finalizers) > 0 {
		waitsFor = "the finalizers " + list(finalizers)
	}
	return Terminating.errorf("the object is being deleted: it waits for %s", waitsFor)
}
