/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type covered struct {
	metav1.TypeMeta `json:",inline"`
	Inlined         `json:",inline"`

	Name   string               `json:"name"`
	Inside map[string][]*inside `json:"inside"`
	Self   *covered             `json:"self"`
	When   *metav1.Time         `json:"when"`
	Gone   string               `json:"gone"`
}

type Inlined struct {
	Inline string `json:"inline"`
}

type inside struct {
	Deep, Deeper string
}

func TestCoverageFindsLeavesThatNeverHoldAnything(t *testing.T) {
	c := newCoverage(&covered{}, []string{"covered.Gone"})
	first := &covered{Inside: map[string][]*inside{"a": {nil, {Deep: "x"}}}}
	c.trip(first, first)
	if diff := cmp.Diff([]string{"inline", "inside[][].Deeper", "name", "self", "when"}, c.never()); diff != "" {
		t.Error("(-want +got):", diff)
	}
	second := &covered{Inlined: Inlined{Inline: "i"}, Name: "a", When: &metav1.Time{}, Self: &covered{}, Inside: map[string][]*inside{"b": {{Deeper: "y"}}}}
	c.trip(second, &covered{Inlined: second.Inlined, Name: "a", Self: &covered{}})
	if diff := cmp.Diff([]string{"inside[][].Deeper", "when"}, c.never()); diff != "" {
		t.Error("what was lost on the way is not shown to survive (-want +got):", diff)
	}
	c.trip(second, second)
	if diff := cmp.Diff([]string(nil), c.never()); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
