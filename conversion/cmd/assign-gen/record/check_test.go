/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheck_ChangedRecord_ReturnsTheDifference(t *testing.T) {
	const carry = "released objects carry "
	for name, test := range map[string]struct {
		before, now string
		// types are those of other modules, before and now.
		beforeTypes, nowTypes map[string]string
		want                  string
	}{
		"the same":                   {before: "{a:string,b:[{c:int32}]}", now: "{a:string,b:[{c:int32}]}"},
		"members in another order":   {before: "{a:string,b:int32}", now: "{b:int32,a:string}"},
		"a member more":              {before: "{a:[{b:string}]}", now: "{a:[{b:string,new:int32}]}"},
		"another type deep inside":   {before: "{a:[{b:int32}]}", now: "{a:[{b:string}]}", want: carry + "int32 at a[].b, which would be read as string"},
		"a member less":              {before: "{a:{*:{b:int32}}}", now: "{a:{*:{}}}", want: carry + "int32 at a.*.b, which would no longer be read"},
		"a list for one":             {before: "string", now: "[string]", want: carry + "string, which would be read as a list"},
		"a struct for a map":         {before: "{*:string}", now: "{a:string}", want: carry + "a map, which would be read as a struct"},
		"an array of another length": {before: "{a:[2:string]}", now: "{a:[3:string]}", want: carry + "string at a[2], which would no longer be read"},
		"two members":                {before: "{a:int32,b:int32}", now: "{a:string,b:string}", want: carry + "int32 at a, which would be read as string; 1 more member changed"},
		"derived no longer": {
			before: "string derived", now: "string",
			want: "released objects carry a value that is kept in addition to the value at the other version, and it would be kept whatever the other version shows",
		},
		"a stash that a hook takes":                {before: "[string]", now: "hook"},
		"a value of a hook instead of an original": {before: "string derived", now: "hook"},
		"a stash that functions take":              {before: "string", now: "string derived"},
		"a hook's value that functions take":       {before: "hook", now: "string derived"},
		"a hook's value for a stash":               {before: "hook", now: "string", want: carry + "hook, which would be read as string"},
		"a stash of another type for functions":    {before: "string", now: "int32 derived", want: carry + "string, which would be read as int32"},
		"a type of another module, unchanged":      {before: "example.com/a.T", now: "example.com/a.T", nowTypes: map[string]string{"example.com/a.T": "{b:string}"}},
		"a type that moved": {
			before: "[example.com/old.T]", now: "[example.com/new.U]",
			beforeTypes: map[string]string{"example.com/old.T": "{b:string}"}, nowTypes: map[string]string{"example.com/new.U": "{b:string}"},
		},
		"a type that moved out of the API":               {before: "{b:string}", now: "example.com/new.U", nowTypes: map[string]string{"example.com/new.U": "{b:string}"}},
		"a type that moved before its JSON was recorded": {before: "example.com/old.T", now: "example.com/new.T"},
		"a type of another module that changed": {
			before: "example.com/a.T", now: "example.com/a.T",
			beforeTypes: map[string]string{"example.com/a.T": "{b:{c:string}}"}, nowTypes: map[string]string{"example.com/a.T": "{b:{c:int32}}"},
			want: carry + "string at b.c, which would be read as int32",
		},
		"a type inside of itself": {
			before: "example.com/a.T", now: "example.com/a.T",
			beforeTypes: map[string]string{"example.com/a.T": "{t:[example.com/a.T],b:int32}"},
			nowTypes:    map[string]string{"example.com/a.T": "{t:[example.com/a.T],b:string}"},
			want:        carry + "int32 at b, which would be read as string",
		},
		"another type of another module": {
			before: "example.com/a.T", now: "example.com/a.U",
			want: carry + "example.com/a.T, which would be read as example.com/a.U",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := difference(test.before, test.now, test.beforeTypes, test.nowTypes); got != test.want {
				t.Errorf("the difference is %q, want %q", got, test.want)
			}
		})
	}
}

func TestLock_BindsFromAReleaseOn(t *testing.T) {
	all, _ := presence("v1/outer.inner")
	const line, other = "v1beta1 Spec v1/outer.inner bag\n", "v1beta1 Spec v1/gone string\n"

	first := Lock(all, "", false)
	if want := lockHead + "unreleased\n" + line; first != want {
		t.Fatal("the first lock (-want +got):", cmp.Diff(want, first))
	}
	if err := CheckLock(all, "conversion.lock", strings.Replace(first, line, other, 1)); err != nil {
		t.Error("an unreleased line binds:", err)
	}
	if got := Lock(all, lockHead+"unreleased\n"+other, false); got != first {
		t.Error("an unreleased line that no longer holds (-want +got):", cmp.Diff(first, got))
	}

	released := Lock(all, first, true)
	if want := lockHead + line; released != want {
		t.Fatal("the lock of a release (-want +got):", cmp.Diff(want, released))
	}
	if got := Lock(all, released, false); got != released {
		t.Error("the next run (-want +got):", cmp.Diff(released, got))
	}
	err := CheckLock(all, "conversion.lock", lockHead+other)
	const want = "conversion.lock:4: E11 v1beta1 Spec v1/gone: released objects carry string, which would no longer be read\n    fix: "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a released line that no longer holds: %v, want %s", err, want)
	}

	all.Selected = true
	err = CheckLock(all, "conversion.lock", lockHead+other)
	const fix = "; or, if --kinds leaves its kind out, add the kind there"
	if err == nil || !strings.HasSuffix(strings.ReplaceAll(err.Error(), "\n        ", " "), fix) {
		t.Errorf("a released line, with --kinds: %v, want %s", err, fix)
	}
}

// A line that is still read stays as it was released, with the types that it mentions.
func TestCheck_LinesStillRead_StayReleased(t *testing.T) {
	lines := []string{
		"", "v1 Spec v1beta1/a [example.com/old.T]", "v1 Spec v1beta1/gone string", "type example.com/old.T {in:example.com/old.U}",
		"type example.com/old.U {x:string}", "type example.com/old.Unused {x:string}",
	}
	want := []string{"type example.com/old.T {in:example.com/old.U}", "type example.com/old.U {x:string}", "v1 Spec v1beta1/a [example.com/old.T]"}
	if diff := cmp.Diff(want, stillReleased(lines, []string{"v1 Spec v1beta1/a [example.com/new.T]"})); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
