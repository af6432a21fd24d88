/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

type (
	next  struct{}
	other struct{}

	assignable interface {
		AssignPropertiesTo(dst *next) error
		AssignPropertiesFrom(src *next) error
	}
)

type hooked struct{}

func (*hooked) AssignPropertiesTo(*next) error   { return nil }
func (*hooked) AssignPropertiesFrom(*next) error { return nil }

type unhooked struct{}

func (*unhooked) AssignProperties_To_Next(*next) error { return nil }
func (*unhooked) AssignToHub(*next) error              { return nil }

type half struct{}

func (*half) AssignPropertiesTo(*next) error { return nil }

type wrongVersion struct{}

func (*wrongVersion) AssignPropertiesTo(*next) error    { return nil }
func (*wrongVersion) AssignPropertiesFrom(*other) error { return nil }

type misspelt struct{}

func (*misspelt) AssignPropertyTo(*next) error { return nil }

type forBoth struct{}

func (*forBoth) AssignPropertiesToNext(*next) error    { return nil }
func (*forBoth) AssignPropertiesFromNext(*next) error  { return nil }
func (*forBoth) AssignPropertiesToOther(*other) error  { return nil }
func (*forBoth) AssignPropertiesFromOthr(*other) error { return nil }

type assignableToNext interface {
	AssignPropertiesToNext(dst *next) error
	AssignPropertiesFromNext(src *next) error
}

type assignableToOther interface {
	AssignPropertiesToOther(dst *other) error
	AssignPropertiesFromOther(src *other) error
}

type byValue struct{}

func (*byValue) AssignPropertiesTo(next) error   { return nil }
func (*byValue) AssignPropertiesFrom(next) error { return nil }

// A hook that is never called is found by the name of its type, with what it would have to be.
func TestHooks_NeverCalled_AreReportedWithTheExpectedSignature(t *testing.T) {
	const (
		pkg  = "github.com/mallard-dev/mallard/conversion/conversiontest."
		both = "AssignPropertiesFrom(*" + pkg + "next) error and AssignPropertiesTo(*" + pkg + "next) error"
	)
	for name, test := range map[string]struct {
		hook Hook
		want []string
	}{
		"both methods": {HookOf[hooked, assignable](), nil},
		"none":         {HookOf[unhooked, assignable](), nil},
		"one of two":   {HookOf[half, assignable](), []string{"the method AssignPropertiesTo is never called, for it takes both; hooks are " + both}},
		"wrong version": {HookOf[wrongVersion, assignable](), []string{
			"the method AssignPropertiesFrom(*" + pkg + "other) error is never called; it would have to be AssignPropertiesFrom(*" + pkg + "next) error",
			"the method AssignPropertiesTo is never called, for it takes both; hooks are " + both,
		}},
		"misspelt": {HookOf[misspelt, assignable](), []string{"the method AssignPropertyTo(*" + pkg + "next) error is never called; hooks are " + both}},
		"a parameter by value": {HookOf[byValue, assignable](), []string{
			"the method AssignPropertiesFrom(" + pkg + "next) error is never called; it would have to be AssignPropertiesFrom(*" + pkg + "next) error",
			"the method AssignPropertiesTo(" + pkg + "next) error is never called; it would have to be AssignPropertiesTo(*" + pkg + "next) error",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.hook.problems()); diff != "" {
				t.Error("(-want +got):", diff)
			}
		})
	}
}

// A type that becomes several has a hook for each. A method that belongs to one of them is no mistake of another.
func TestHooks_TypeThatBecomesSeveral_HasOneForEach(t *testing.T) {
	hooks := []Hook{HookOf[forBoth, assignableToNext](), HookOf[forBoth, assignableToOther]()}
	if diff := cmp.Diff([]string(nil), hooks[0].problems(hooks...)); diff != "" {
		t.Error("of the hook that is complete (-want +got):", diff)
	}
	const (
		pkg  = "github.com/mallard-dev/mallard/conversion/conversiontest."
		both = "AssignPropertiesFromOther(*" + pkg + "other) error and AssignPropertiesToOther(*" + pkg + "other) error"
	)
	want := []string{
		"the method AssignPropertiesFromOthr(*" + pkg + "other) error is never called; hooks are " + both,
		"the method AssignPropertiesToOther is never called, for it takes both; hooks are " + both,
	}
	if diff := cmp.Diff(want, hooks[1].problems(hooks...)); diff != "" {
		t.Error("of the hook that is not (-want +got):", diff)
	}
}
