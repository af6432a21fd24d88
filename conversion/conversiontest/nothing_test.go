/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A hook may fill the field that is declared, and no other one.
func TestValues_AreThoseOfFieldsThatAreNotFixed(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	}
	type outer struct {
		Inner []inner `json:"inner"`
		Name  string  `json:"name"`
	}
	object := outer{Inner: []inner{{Name: "a", Size: 1}}, Name: "b"}
	for fixed, want := range map[string]map[string]string{
		"none":        {".inner[].name": `"a"`, ".inner[].size": "1", ".name": `"b"`},
		"outer.Inner": {".name": `"b"`},
		"inner.Name":  {".inner[].size": "1", ".name": `"b"`},
	} {
		got := make(map[string]string)
		values(reflect.ValueOf(object), "", []string{fixed}, func(path, value string) { got[path] = value })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %s fixed (-want +got): %s", fixed, diff)
		}
	}
}
