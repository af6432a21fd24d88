/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// versionOf identifies a state of an object.
func versionOf(u *unstructured.Unstructured) string {
	return string(u.GetUID()) + "/" + u.GetResourceVersion()
}

// deletionOf identifies the end of an object among its states.
func deletionOf(uid types.UID) string { return string(uid) + "/deleted" }

// isOwn reports whether a version, or a deletion, is of an operation of the hook, and the hook ignores those.
func (r *runner) isOwn(h *Hook) func(version string) bool {
	return func(version string) bool {
		_, ok := r.own[h].Get(version)
		return ok && !h.bindings.Settings.RunOnOwnWrites
	}
}

// isOwn reports whether an event is of changes by the hook alone.
func (o *object) isOwn(event WatchEvent, s *state, isOwn func(version string) bool) bool {
	deletes := isOwn(deletionOf(s.GetUID()))
	switch {
	case event == Deleted:
		return deletes
	case event == Modified && deletes && beginsDeletion(o.received.Unstructured, s.Unstructured):
		return true
	}
	return len(o.versions) > 0 && !slices.ContainsFunc(o.versions, func(version string) bool { return !isOwn(version) })
}

// beginsDeletion reports whether an accepted deletion is the only difference between two states.
func beginsDeletion(before, after *unstructured.Unstructured) bool {
	if before.GetDeletionTimestamp() != nil || after.GetDeletionTimestamp() == nil {
		return false
	}
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, u := range []*unstructured.Unstructured{before, after} {
		for _, field := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion", "managedFields"} {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
		finalizers := slices.DeleteFunc(u.GetFinalizers(), storesPolicy)
		if len(finalizers) == 0 {
			finalizers = nil // removes the field
		}
		u.SetFinalizers(finalizers)
	}
	return equality.Semantic.DeepEqual(before.Object, after.Object)
}

// storesPolicy reports whether the API server stores the propagation policy of a deletion as this finalizer, for the garbage collector.
func storesPolicy(finalizer string) bool {
	return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
}
