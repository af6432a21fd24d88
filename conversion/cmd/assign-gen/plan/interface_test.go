/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// A kind may have its own method with a name that is generated only for the other interface.
func TestMake_KindHasEachMethod_ThoseOfTheInterfaceAreReported(t *testing.T) {
	packages := []*model.Package{older.with(nil).build(), newer.with(nil).build()}
	for _, each := range packages {
		each.Type("Widget").Methods = []string{"ConversionAnnotation", "ConvertFrom", "ConvertTo", "Hub"}
	}
	for webhook, want := range map[Interface][]string{
		Knative:           {"v1.Widget ConvertFrom", "v1.Widget ConvertTo", "v1beta1.Widget ConvertFrom", "v1beta1.Widget ConvertTo"},
		ControllerRuntime: {"v1.Widget ConversionAnnotation", "v1.Widget Hub", "v1beta1.Widget ConversionAnnotation", "v1beta1.Widget ConvertFrom", "v1beta1.Widget ConvertTo"},
	} {
		_, err := Make(packages, webhook)
		if err == nil {
			t.Fatalf("%s: nothing is reported", webhook)
		}
		var got []string
		for line := range strings.Lines(err.Error()) {
			before, after, found := strings.Cut(line, ": the type has a method or field ")
			if found {
				kind := before[strings.LastIndex(before, " ")+1:]
				name, _, _ := strings.Cut(after, ",")
				got = append(got, kind+" "+name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", webhook, diff, err)
		}
	}
}
