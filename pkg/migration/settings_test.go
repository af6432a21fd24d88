/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestResources_List_IsParsed(t *testing.T) {
	t.Parallel()
	others := schema.GroupResource{Group: "example.org", Resource: "others"}
	for value, want := range map[string]Resources{
		"gauges.example.com":                     {gauges},
		"gauges.example.com, others.example.org": {gauges, others},
	} {
		var got Resources
		if err := got.Decode(value); err != nil {
			t.Errorf("%q: %v", value, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
	for _, value := range []string{"", "gauges", "gauges.example.com,", "Gauges.example.com", "gauges.example.com/v1", "gauges.example.com,gauges.example.com"} {
		if err := new(Resources).Decode(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}

func TestVersions_List_IsParsed(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Versions{
		"":                            {},
		"gauges.example.com/v1alpha1": {gauges: {"v1alpha1"}},
		"gauges.example.com/v1alpha1, gauges.example.com/v1beta1": {gauges: {"v1alpha1", "v1beta1"}},
	} {
		var got Versions
		if err := got.Decode(value); err != nil {
			t.Errorf("%q: %v", value, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
	for _, value := range []string{"v1alpha1", "gauges/v1alpha1", "gauges.example.com", "gauges.example.com/", "gauges.example.com/V1", "gauges.example.com/v1,"} {
		if err := new(Versions).Decode(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}
