/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The hook has deleted the object, so that one version is that of the deletion. A change by another client is delivered, also as part of the same event.
func TestIsOwn_DeletionBegins_HidesNoChangeByOthers(t *testing.T) {
	before, deleted := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	for _, u := range []*unstructured.Unstructured{before, deleted} {
		u.SetUID("u")
	}
	deleted.SetDeletionTimestamp(new(metav1.Now()))
	own := func(version string) bool { return version == "u/deleted" || version == "u/own" }
	for name, tc := range map[string]struct {
		now      *unstructured.Unstructured
		versions []string
		want     bool
	}{
		"deletion":               {deleted, []string{"u/2"}, true},
		"write and deletion":     {deleted, []string{"u/own", "u/3"}, true},
		"deletion and another":   {deleted, []string{"u/2", "u/3"}, false},
		"many versions":          {deleted, []string{"", "u/70"}, false},
		"another, no deletion":   {before, []string{"u/2"}, false},
		"own write, no deletion": {before, []string{"u/own"}, true},
	} {
		o := &object{received: &state{Unstructured: before}, versions: tc.versions}
		if got := o.isOwn(Modified, &state{Unstructured: tc.now}, own); got != tc.want {
			t.Errorf("%s: the event is own: %t, want %t", name, got, tc.want)
		}
	}
}
