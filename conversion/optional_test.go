/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/conversion"
)

// Clients that know the type read null as nothing, and encoding/json as null.
func TestRaw_NullIsNothing(t *testing.T) {
	for text, want := range map[string]string{"": "", "null": "", "0": "0", `{"a":null}`: `{"a":null}`} {
		message := json.RawMessage(text)
		got := conversion.Raw(message)
		if string(got) != want || (got == nil) != (want == "") {
			t.Errorf("of %q it is %q, want %q", text, got, want)
		}
		if len(got) > 0 {
			got[0] = 'x'
			if string(message) != text {
				t.Errorf("the copy of %q shares its memory", text)
			}
		}
	}
}

func TestIsZero_Values_ReportsZero(t *testing.T) {
	type inner struct {
		Raw  json.RawMessage
		Time time.Time
	}
	type outer struct {
		Inner inner
		List  []string
	}
	for name, test := range map[string]struct {
		value outer
		want  bool
	}{
		"nothing":       {outer{}, true},
		"null":          {outer{Inner: inner{Raw: json.RawMessage("null")}}, true},
		"JSON":          {outer{Inner: inner{Raw: json.RawMessage("0")}}, false},
		"a time":        {outer{Inner: inner{Time: time.Unix(0, 0)}}, false},
		"an empty list": {outer{List: []string{}}, false},
	} {
		if got := conversion.IsZero(&test.value); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
