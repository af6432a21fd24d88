/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type covered struct {
	metav1.TypeMeta

	Name   string
	Inside map[string][]*inside
	Self   *covered
	When   *metav1.Time
}

type inside struct {
	Deep, Deeper string
}

func TestCoverageFindsFieldsThatNeverHoldAnything(t *testing.T) {
	c := newCoverage(&covered{})
	c.note(reflect.ValueOf(&covered{Inside: map[string][]*inside{"a": {nil, {Deep: "x"}}}}))
	if diff := cmp.Diff([]string{"covered.Name", "covered.Self", "covered.When", "inside.Deeper"}, c.never()); diff != "" {
		t.Error("(-want +got):", diff)
	}
	c.note(reflect.ValueOf(&covered{When: &metav1.Time{}, Self: &covered{Name: "a", Inside: map[string][]*inside{"b": {{Deeper: "y"}}}}}))
	if diff := cmp.Diff([]string(nil), c.never()); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
