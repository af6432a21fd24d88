/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEdits_NameAndNamespace_AreNotChanged(t *testing.T) {
	object := whole{"metadata": whole{"name": "other", "labels": whole{"a": "new"}, "namespace": "other"}, "spec": "new"}
	keepIdentity(object, whole{"metadata": whole{"name": "it", "labels": whole{"a": "old"}}, "spec": "old"})
	want := whole{"metadata": whole{"name": "it", "labels": whole{"a": "new"}}, "spec": "new"}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Error("(-want +got):", diff)
	}
	object = whole{"spec": "new"}
	keepIdentity(object, whole{"metadata": whole{"name": "it"}})
	if diff := cmp.Diff(whole{"spec": "new"}, object); diff != "" {
		t.Error("without metadata (-want +got):", diff)
	}
}
