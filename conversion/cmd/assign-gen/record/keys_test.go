/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// presence is a plan of two versions where something belongs to the struct Spec.Outer.Inner as a whole.
func presence(key string) (*plan.Plan, *plan.FieldPlan) {
	field := &plan.FieldPlan{Fate: plan.StashedNewer, Newer: plan.Path{{Name: "Outer"}, {Name: "Inner"}}, NewerKey: key, Presence: true}
	older, newer := &plan.Version{Name: "v1beta1"}, &plan.Version{Name: "v1"}
	pair := &plan.Pair{Older: &plan.Struct{Name: "Spec", Version: older}, Newer: &plan.Struct{Name: "Spec", Version: newer}, Fields: []*plan.FieldPlan{field}}
	return &plan.Plan{Links: []*plan.Link{{Older: older, Newer: newer, Pairs: []*plan.Pair{pair}}}}, field
}

// A field that a release has stashed, and that both versions show now, keeps the keys of that release.
func TestKeepKeys_StashedFieldThatIsConvertedNow(t *testing.T) {
	for name, test := range map[string]struct{ lock, wantOlder, wantNewer string }{
		"of both":        {"v1 Spec v1beta1/text string\nv1beta1 Spec v1/title string\n", "v1beta1/text", "v1/title"},
		"of one":         {"v1beta1 Spec v1/title string\n", "", "v1/title"},
		"kept original":  {"v1beta1 Spec v1/title string derived\n", "", ""},
		"of another":     {"v1beta1 Other v1/title string\n", "", ""},
		"never released": {"unreleased\nv1beta1 Spec v1/title string\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all, field := converted(&plan.Conversion{Rule: plan.Copy})
			KeepKeys(all, test.lock)
			if field.OlderKey != test.wantOlder || field.NewerKey != test.wantNewer {
				t.Errorf("the keys are %q and %q, want %q and %q", field.OlderKey, field.NewerKey, test.wantOlder, test.wantNewer)
			}
			if err := CheckLock(all, "conversion.lock", test.lock); (err != nil) != (name == "kept original" || name == "of another") {
				t.Errorf("the lock is judged %v", err)
			}
		})
	}
}

// An alias is shown together with the field that it stands for, so that a stash of a release cannot be taken for one.
func TestCheckLock_StashThatIsAnAliasNow_IsAProblem(t *testing.T) {
	all, field := converted(&plan.Conversion{Rule: plan.Copy})
	alias := &plan.Alias{Older: &plan.Field{Storage: field.Older.Storage}, OlderKey: "v1beta1/old", ShownKey: "v1beta1/old.shown"}
	all.Links[0].Pairs[0].Aliases = []*plan.Alias{alias}
	if err := CheckLock(all, "conversion.lock", "v1 Spec v1beta1/old string\n"); err == nil {
		t.Error("a released stash may become an alias")
	}
	if err := CheckLock(all, "conversion.lock", Lock(all, "", true)); err != nil {
		t.Errorf("the lock of the release is judged %v", err)
	}
}

// Objects carry a stash of a release after later ones, too.
func TestLock_StashThatIsConvertedNow_StaysAfterARelease(t *testing.T) {
	all, field := converted(&plan.Conversion{Rule: plan.MapEnum})
	field.OlderKey, field.NewerKey = "v1beta1/text", "v1/title"
	const stash, derived = "v1beta1 Spec v1/title string\n", "v1 Spec v1beta1/text string derived\nv1beta1 Spec v1/title string derived\n"
	want := lockHead + strings.Replace(derived, "v1beta1 Spec", stash+"v1beta1 Spec", 1)
	released := Lock(all, lockHead+stash, true)
	if released != want {
		t.Fatal("the lock of the release (-want +got):", cmp.Diff(want, released))
	}
	if got := Lock(all, released, true); got != want {
		t.Error("the lock of the next release (-want +got):", cmp.Diff(want, got))
	}
	KeepKeys(all, released)
	if field.OlderStashed || !field.NewerStashed {
		t.Errorf("the older field is stashed: %t, the newer one: %t", field.OlderStashed, field.NewerStashed)
	}
}

// converted is a plan of two versions, of which the newer one calls the field Text of Spec Title.
func converted(by *plan.Conversion) (*plan.Plan, *plan.FieldPlan) {
	text := &model.Type{Kind: model.Basic, Name: "string"}
	older, newer := &plan.Version{Name: "v1beta1"}, &plan.Version{Name: "v1"}
	from := &plan.Field{API: &model.Field{Name: "Text", JSON: "text"}, Storage: text}
	to := &plan.Field{API: &model.Field{Name: "Title", JSON: "title"}, Storage: text}
	field := &plan.FieldPlan{
		Fate: plan.Converted, Older: from, From: plan.Path{{Name: "Text", Type: text, Field: from}},
		Newer: plan.Path{{Name: "Title", Type: text, Field: to}}, Conversion: by,
	}
	pair := &plan.Pair{
		Older: &plan.Struct{Name: "Spec", Version: older}, Newer: &plan.Struct{Name: "Spec", Version: newer}, Fields: []*plan.FieldPlan{field},
	}
	return &plan.Plan{Links: []*plan.Link{{Older: older, Newer: newer, Pairs: []*plan.Pair{pair}}}}, field
}

func TestKeepKeys_ReleasedKeys_AreKept(t *testing.T) {
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
