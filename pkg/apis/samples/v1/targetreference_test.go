/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTargetReference_GroupVersionKind_IsParsed(t *testing.T) {
	for name, tc := range map[string]struct {
		apiVersion string
		want       schema.GroupVersionKind
	}{
		"core":     {"v1", schema.GroupVersionKind{Version: "v1", Kind: "K"}},
		"group":    {"example.com/v1", schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "K"}},
		"nothing":  {"", schema.GroupVersionKind{Kind: "K"}},
		"unparsed": {"a/b/c", schema.GroupVersionKind{Kind: "K"}},
	} {
		t.Run(name, func(t *testing.T) {
			ref := TargetReference{APIVersion: tc.apiVersion, Kind: "K"}
			if got := ref.GroupVersionKind(); got != tc.want {
				t.Errorf("GroupVersionKind() = %#v, want %#v", got, tc.want)
			}
		})
	}
}

func TestTargetReference_String_NamesKindAndObject(t *testing.T) {
	for want, ref := range map[string]TargetReference{
		"Service s":          {APIVersion: "v1", Kind: "Service", Name: "s"},
		"Service ns/s":       {APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: "s"},
		"Duck.example.com d": {APIVersion: "example.com/v1", Kind: "Duck", Name: "d"},
	} {
		if got := ref.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
