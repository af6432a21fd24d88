/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// presence is a plan of two versions where something belongs to the struct Spec.Outer.Inner as a whole.
func presence(key string) (*plan.Plan, *plan.FieldPlan) {
	field := &plan.FieldPlan{Fate: plan.StashedNewer, Newer: plan.Path{{Name: "Outer"}, {Name: "Inner"}}, NewerKey: key, Presence: true}
	older, newer := &plan.Version{Name: "v1beta1"}, &plan.Version{Name: "v1"}
	pair := &plan.Pair{Older: &plan.Struct{Name: "Spec"}, Newer: &plan.Struct{Name: "Spec"}, Fields: []*plan.FieldPlan{field}}
	return &plan.Plan{Links: []*plan.Link{{Older: older, Newer: newer, Pairs: []*plan.Pair{pair}}}}, field
}

func TestKeepKeys(t *testing.T) {
	for name, test := range map[string]struct{ lock, want string }{
		"released with the path in Go":   {"v1beta1 Spec v1/Outer.Inner bag\n", "v1/Outer.Inner"},
		"released with the path in JSON": {"v1beta1 Spec v1/outer.inner bag\n", "v1/outer.inner"},
		"of another struct":              {"v1beta1 Other v1/Outer.Inner bag\n", "v1/outer.inner"},
		"never released":                 {"", "v1/outer.inner"},
	} {
		t.Run(name, func(t *testing.T) {
			all, field := presence("v1/outer.inner")
			KeepKeys(all, test.lock)
			if field.NewerKey != test.want {
				t.Errorf("the key is %s, want %s", field.NewerKey, test.want)
			}
			if err := CheckLock(all, "conversion.lock", test.lock); (err != nil) != (name == "of another struct") {
				t.Errorf("the lock is judged %v", err)
			}
		})
	}
}
