/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestLister_List_HasTheObjectsOfTheType(t *testing.T) {
	lister := Lister[*corev1.ConfigMap]{func() []any { return []any{thing("a", "1"), thing("b", "2"), &corev1.Secret{}} }}
	if got := len(lister.List()); got != 2 {
		t.Errorf("%d objects are found, want 2", got)
	}
}
