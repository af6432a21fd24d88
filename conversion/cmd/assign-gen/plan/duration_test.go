/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

func TestConvert_DurationsAndNumbers_UseTheUnit(t *testing.T) {
	duration := &model.Type{Kind: model.Named, Package: metaPackage, PackageName: "v1", Name: "Duration", Underlying: structOf(), Methods: []string{"MarshalJSON"}}
	plans := planned(t,
		older.with([]*model.Field{
			field("A", basic("uint16"), "+conversion:unit=days"),
			field("B", pointer(duration), "+conversion:unit=seconds"),
			field("C", slice(duration), "+conversion:unit=seconds"),
		}),
		newer.with([]*model.Field{field("A", duration), field("B", basic("int32")), field("C", slice(basic("int64")))}))
	for name, want := range map[string]Rule{"A": ToDuration, "B": FromDuration, "C": FromDuration} {
		c := plans[name].Conversion
		if c.Elem == nil || c.Elem.Rule != want || c.Elem.Unit == "" || plans[name].OlderKey == "" {
			t.Errorf("%s is converted by %+v", name, c.Elem)
		}
	}
	for name, test := range map[string]struct {
		older, newer *model.Field
		want         string
	}{
		"no unit": {
			field("F", duration), field("F", basic("int32")),
			"E01 v1beta1.WidgetSpec.F (v1.Duration) → v1.WidgetSpec.F (int32): a duration and a number need a unit, such as +conversion:unit=seconds",
		},
		"a fraction": {
			field("F", duration, "+conversion:unit=seconds"), field("F", basic("float64")),
			"E01 v1beta1.WidgetSpec.F (v1.Duration) → v1.WidgetSpec.F (float64): no conversion from v1.Duration to float64",
		},
		"two durations": {
			field("F", duration, "+conversion:unit=seconds"), field("F", duration),
			"E08 v1beta1.WidgetSpec.F (v1.Duration) → v1.WidgetSpec.F (v1.Duration): " +
				"+conversion:unit is at a field that is not a duration in one version and a whole number in the other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := rejected(t, older.with([]*model.Field{test.older}), newer.with([]*model.Field{test.newer}))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}
