/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// anyJSON keeps JSON as apiextensionsv1.JSON does.
type anyJSON struct {
	Raw []byte `json:"-"`
}

func (a anyJSON) MarshalJSON() ([]byte, error) {
	if len(a.Raw) == 0 {
		return []byte("null"), nil
	}
	return a.Raw, nil
}

func (a *anyJSON) UnmarshalJSON(text []byte) error {
	a.Raw = nil
	if string(text) != "null" {
		a.Raw = append(a.Raw, text...)
	}
	return nil
}

func TestFiller_TypesThatHoldAnyJSON_AreFilled(t *testing.T) {
	var object struct {
		JSON         anyJSON                                `json:"json"`
		Pointer      *anyJSON                               `json:"pointer"`
		Message      json.RawMessage                        `json:"message"`
		Extension    runtime.RawExtension                   `json:"extension"`
		Unstructured unstructured.Unstructured              `json:"unstructured"`
		Each         map[string][]unstructured.Unstructured `json:"each"`
	}
	random, seen := newFiller(testrand.Source(t), nil).withEverything(), newCoverage(&object, nil)
	forms := make(map[byte]bool)
	for range testrand.Inputs(t) {
		again := random.fillValid(t, &object)
		expectSamef(t, canonical(t, &object), canonical(t, again), "the JSON that is held changes when it is read")
		seen.trip(&object, again)
		forms[object.JSON.Raw[0]] = true
	}
	if never := seen.never(); never != nil {
		t.Errorf("%q never hold anything", never)
	}
	if !forms['{'] || !forms['['] || !forms['"'] {
		t.Errorf("the JSON that is held begins with one of %v only, want objects, lists and texts", forms)
	}
	random = newFiller(testrand.Source(t), nil)
	for range testrand.Inputs(t) {
		random.fillValid(t, &object)
	}
}

// holder is a storage type with a pointer to JSON.
type holder struct {
	Value *anyJSON `json:"value,omitempty"`
}

func (h *holder) DeepCopyInto(dst *holder) {
	*dst = holder{}
	if h.Value != nil {
		dst.Value = &anyJSON{Raw: slices.Clone(h.Value.Raw)}
	}
}

// A value that is read from JSON has no pointer to null, so that a conversion through JSON, such as a stash, cannot lose it.
func TestLink_PointerToJSON_IsNilForNull(t *testing.T) {
	byJSON := func(dst, src *holder) error {
		text, err := json.Marshal(src)
		if err != nil {
			return err
		}
		*dst = holder{}
		return json.Unmarshal(text, dst)
	}
	Link[holder, holder]{
		Up:   func(older, newer *holder) error { return byJSON(newer, older) },
		Down: func(older, newer *holder) error { return byJSON(older, newer) },
	}.Test(t)
}
