/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
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

func TestCoverage_LeafThatNeverHoldsAValue_IsReported(t *testing.T) {
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

// The message begins with the leaves that are lost, and a kind with many leaves does not hide them.
func TestCoverage_Message_NamesTheCauseAndFitsTheScreen(t *testing.T) {
	c := newCoverage(&covered{}, nil)
	c.trip(&covered{Name: "a"}, &covered{})
	got := c.explained([]string{"inline", "name", "self"})
	want := "lost on the way: [name]\nnot shown to survive, since they never hold anything: [inline name self]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}

	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("spec.field%d", i))
	}
	const size, lines = 4100, 60
	got = c.explained(append(many, "name"))
	if len(got) > size || strings.Count(got, "\n") >= lines || !strings.HasPrefix(got, "lost on the way: [name]\n") {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}

// wide has three fields, of which its annotation holds two.
type wide struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	A, B, C *string
}

type narrow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

func convertWide(_ context.Context, from, to metav1.Object) error {
	const annotation = "wide"
	switch from := from.(type) {
	case *wide:
		values := map[string]*string{"A": from.A, "B": from.B, "C": from.C}
		maps.DeleteFunc(values, func(_ string, value *string) bool { return value == nil })
		text, err := json.Marshal(values)
		if len(values) < 3 {
			to.SetAnnotations(map[string]string{annotation: string(text)})
		}
		return err
	default:
		if text := from.GetAnnotations()[annotation]; text != "" {
			return json.Unmarshal([]byte(text), to)
		}
		return nil
	}
}

func TestCoverage_ObjectTooLargeForTheAnnotation_LeavesAreCovered(t *testing.T) {
	versions := []Version{
		{Name: "v1", New: func() metav1.Object { return &wide{} }, Dropped: []string{"wide.ObjectMeta"}},
		{Name: "v2", New: func() metav1.Object { return &narrow{} }},
	}
	Kind{Annotation: "wide", Versions: versions, Converters: []Converter{convertWide}}.covered(t, versions[0], versions[1])
}
