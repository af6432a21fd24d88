/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// kinds are a version with the kinds A and B, which both hold Shared, and an Own of A.
func kinds() map[string]*plan.Struct {
	version := &plan.Version{Package: &model.Package{Path: "v1"}}
	all := make(map[string]*plan.Struct)
	for _, name := range []string{"A", "B", "Own", "Shared"} {
		declared := &model.Type{Kind: model.Named, Package: "v1", Name: name, Underlying: &model.Type{Kind: model.Struct}}
		all[name] = &plan.Struct{Version: version, Declared: declared, Name: name, Root: len(name) == 1}
		version.Structs = append(version.Structs, all[name])
	}
	for name, held := range map[string][]string{"A": {"Own", "Shared"}, "B": {"Shared"}, "Shared": {"Shared"}} {
		for _, each := range held {
			list := &model.Type{Kind: model.Slice, Elem: all[each].Declared}
			all[name].Declared.Underlying.Fields = append(all[name].Declared.Underlying.Fields, &model.Field{Type: list})
		}
	}
	return all
}

func TestDivide_LongSections_ByKindThenByLength(t *testing.T) {
	structs := kinds()
	for name, test := range map[string]struct {
		allowed int
		want    []string
	}{
		"all in one file":     {60, []string{"f.go: package+A+B+Own+Shared+A"}},
		"one for each kind":   {59, []string{"f.go: package+Shared", "f.a.go: A+A+Own", "f.b.go: B"}},
		"several for a kind":  {25, []string{"f.go: package+Shared", "f.a.go: A+A", "f.a.2.go: Own", "f.b.go: B"}},
		"one for each struct": {1, []string{"f.go: package", "f.2.go: Shared", "f.a.go: A", "f.a.2.go: A", "f.a.3.go: Own", "f.b.go: B"}},
	} {
		t.Run(name, func(t *testing.T) {
			sections := []section{{nil, nil}, {structs["A"], nil}, {structs["B"], nil}, {structs["Own"], nil}, {structs["Shared"], nil}, {structs["A"], nil}}
			var got []string
			for _, each := range divide("f.go", sections, test.allowed, func(section) int { return 10 }) {
				var names []string
				for _, s := range each.sections {
					if s.owner == nil {
						names = append(names, "package")
						continue
					}
					names = append(names, s.owner.Name)
				}
				got = append(got, each.name+": "+strings.Join(names, "+"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("(-want +got):", diff)
			}
		})
	}
}

// A package without keys of bags needs no file for them.
func TestDivide_NoKeys_WritesNoEmptyFile(t *testing.T) {
	sections := []section{{nil, nil}, {kinds()["B"], nil}}
	parts := divide("f.go", sections, 1, func(s section) int { return len(s.name()) * 10 })
	if len(parts) != 1 || parts[0].name != "f.b.go" {
		t.Errorf("%d files, the first of which is %s", len(parts), parts[0].name)
	}
}
