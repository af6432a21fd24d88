/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

// A struct by value with nothing in it stands for none, unless something is kept for it.
func TestStructs_EmptyByValue_AreAbsentUnlessStashed(t *testing.T) {
	if !conversion.IsZero(&reference{}) || conversion.IsZero(&reference{Name: "a"}) {
		t.Error("IsZero does not distinguish an empty struct")
	}
	shown := struct{ Quantity resource.Quantity }{Quantity: resource.MustParse("0")}
	_ = shown.Quantity.String() // which the quantity keeps, as it does when it is read
	if conversion.IsZero(&shown) || !conversion.LooksZero(&shown) {
		t.Error("a quantity that was read as 0 is not what it looks like")
	}
	shown.Quantity = resource.MustParse("1")
	if conversion.LooksZero(&shown) {
		t.Error("a quantity of 1 looks like nothing")
	}
	annotation := conversion.Annotation{Name: "example.com/properties"}
	stash := conversion.NewWriter()
	stash.Field("spec").Field("limits").MarkZero("least")
	var object metav1.ObjectMeta
	annotation.Store(&object, &metav1.ObjectMeta{}, stash)
	from := annotation.Load(&metav1.ObjectMeta{}, &object)
	if from.Field("spec").IsEmpty() || from.Field("spec").Field("limits").IsEmpty() {
		t.Errorf("nothing is kept for the fields, in %v", object.Annotations)
	}
	if !from.Field("status").IsEmpty() || !from.Field("spec").Field("ports").IsEmpty() {
		t.Errorf("something is kept for other fields, in %v", object.Annotations)
	}
}

func TestNonZeroAndValue_ZeroValue_IsNil(t *testing.T) {
	if conversion.NonZero("") != nil || conversion.Value[string](nil) != "" {
		t.Error("the empty text is not nil")
	}
	if got := conversion.NonZero("a"); got == nil || conversion.Value(got) != "a" {
		t.Errorf("NonZero returns %v for a text", got)
	}
}
