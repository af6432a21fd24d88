/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// templates are two versions in which the type of two fields becomes a type for each.
func templates(markers []string, inner ...*model.Field) (olderVersion, newerVersion version) {
	text := basic("string")
	template := older.own("Template", inner...)
	template.Markers = parsed(markers...)
	machine, volume := newer.own("Machine", field("Name", text)), newer.own("Volume", field("Name", text), field("Gigabytes", text))
	return older.with([]*model.Field{field("A", template), field("B", pointer(template))}, template),
		newer.with([]*model.Field{field("A", machine), field("B", pointer(volume))}, machine, volume)
}

// A field that only some of the types have is converted there, and stashed in the others.
func TestSeveral_OneTypeBecomesMany_IsPlanned(t *testing.T) {
	text := basic("string")
	olderVersion, newerVersion := templates([]string{"+conversion:name=Machine,Volume"},
		field("Name", text), field("Size", text, "+conversion:rename=Gigabytes"))
	result, err := Make([]*model.Package{olderVersion.build(), newerVersion.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, pair := range result.Links[0].Pairs {
		for _, each := range pair.Fields {
			switch pair.Older.Name {
			case "Template":
				got[pair.Newer.Name+" "+each.olderName()] = string(each.Fate)
			case "WidgetSpec":
				got[each.olderName()] = each.Conversion.Called().Newer.Name
			}
		}
	}
	want := map[string]string{
		"A": "Machine", "B": "Volume",
		"Machine Name": "converted", "Machine Size": "stashed (older)",
		"Volume Name": "converted", "Volume Size": "converted",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestSeveral_WrongNames_AreProblems(t *testing.T) {
	text := basic("string")
	for name, test := range map[string]struct {
		markers []string
		inner   *model.Field
		want    string
	}{
		"one is missing": {
			[]string{"+conversion:name=Machine"},
			field("Name", text),
			"E01 v1beta1.WidgetSpec.B (*v1beta1.Template) → v1.WidgetSpec.B (*v1.Volume): v1beta1.Template becomes v1.Machine and not v1.Volume; " +
				"if it becomes both, mark the type +conversion:name=Machine,Volume",
		},
		"one is misspelt": {
			[]string{"+conversion:name=Machine,Volumes"},
			field("Name", text),
			`E09 v1beta1.Template: the type is called Volumes in v1, which no kind there uses; did you mean "Volume"?`,
		},
		"functions": {
			[]string{"+conversion:name=Machine,Volume", "+conversion:with=up,down"},
			field("Name", text),
			"E08 v1beta1.Template: functions convert the type to one other type, and +conversion:name has several\n" +
				"    fix: move +conversion:with to the fields that hold the type",
		},
		"a field that none of them has": {
			[]string{"+conversion:name=Machine,Volume"},
			field("Name", text, "+conversion:rename=Nowhere"),
			"E02 v1beta1.Template.Name: the field is called Nowhere in the next version, and v1.Machine has no field Nowhere",
		},
	} {
		t.Run(name, func(t *testing.T) {
			olderVersion, newerVersion := templates(test.markers, test.inner)
			if got := rejected(t, olderVersion, newerVersion); !strings.Contains(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}

func TestSeveral_Kind_BecomesOneKind(t *testing.T) {
	kind := older.with(nil).build()
	kind.Type("Widget").Markers = parsed("+conversion:name=Widget,Gadget")
	_, err := Make([]*model.Package{kind, newer.with(nil).build()}, Knative)
	const want = "E08 v1beta1.Widget: a kind becomes one kind, and +conversion:name has several\n    fix: keep one name"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the problems are %v, want %q", err, want)
	}
}
