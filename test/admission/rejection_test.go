/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"cmp"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rejection is the expected response of the API server to an invalid object.
type rejection struct {
	// path is the field, with [] for the items of a list.
	path string
	says string
}

func (b bound) rejection() rejection { return rejection{path: cmp.Or(b.field, b.path), says: b.says} }

func (b bound) rejectionBehindWebhook() rejection {
	if b.behind != nil {
		return *b.behind
	}
	return b.rejection()
}

var index = regexp.MustCompile(`\[\d+\]`)

// check checks that an error rejects an object for the field and no other.
func (r rejection) check(t *testing.T, bad *unstructured.Unstructured, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("the spec %v is accepted", bad.Object["spec"])
		return
	}
	said := false
	for _, cause := range causesOf(t, err) {
		field := index.ReplaceAllString(cause.Field, "[]")
		switch {
		case field == r.path:
			said = said || strings.Contains(cause.Message, r.says)
		case field == "<nil>" && strings.Contains(cause.Message, "some validation rules were not checked"):
			// The API server adds this whenever it has not evaluated the CEL rules.
		default:
			t.Errorf("the rejection of the spec %v names the field %q, want %q only: %v", bad.Object["spec"], cause.Field, r.path, err)
		}
	}
	if !said {
		t.Errorf("the rejection of the spec %v does not say %q of %s: %v", bad.Object["spec"], r.says, r.path, err)
	}
}
