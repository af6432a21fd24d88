/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// The newer field of the same name in JSON may show another field, so that a rename would lead to two sources of it.
func TestSameJSON_OtherFieldIsConverted_OnlyOneVersionShowsTheValue(t *testing.T) {
	text := basic("string")
	former := field("Container", text)
	former.JSON = "formerContainer"
	named := field("ContainerName", text)
	named.JSON = "container"
	got := rejected(t, older.with([]*model.Field{former, named}), newer.with([]*model.Field{field("Container", text)}))
	const want = `E15 v1beta1.WidgetSpec.ContainerName: JSON calls it container, like v1.WidgetSpec.Container, and only v1beta1 would show it
    fix: use a hook (+conversion:strategy=augment) if they mean the same, or +conversion:strategy=stash if they do not`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
