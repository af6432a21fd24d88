/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"strings"
	"testing"
)

// The message about two objects begins with the cause, and can be read: no object is printed as a whole that is too long for that.
func TestExplained_Differences_BeginWithTheCause(t *testing.T) {
	long := strings.Repeat(`{"a":"b"},`, 100_000)
	for name, test := range map[string]struct{ want, got, cause string }{
		"member": {`{"spec":{"a":[{"b":1}],"c":2}}`, `{"spec":{"a":[{"b":1,"d":true}],"c":3}}`, "spec.a[0].d: want nothing, got true\n"},
		"length": {`{"a":[1]}`, `{"a":[1,2]}`, "a: want [1], got [1,2]\n"},
		"number": {`9223372036854775807`, `9223372036854775808`, ": want 9223372036854775807, got 9223372036854775808\n"},
		"long":   {`{"z":1,"l":[` + long + `1]}`, `{"z":2,"l":[` + long + `1]}`, "z: want 1, got 2\n"},
		"left out": {
			`{"a":1}`, `{"metadata":{"labels":{"x/properties-truncated":"3589540"}}}`,
			"a: want 1, got nothing\nthe annotation would need 3589540 bytes and was left out: add functions for smaller values to conversionFunctions\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := explained(test.want, test.got, "by way of "+test.got)
			if !strings.HasPrefix(got, test.cause) {
				t.Errorf("got %.200s, want a message that begins with %s", got, test.cause)
			}
			const lines, bytes = 60, 20_000
			if strings.Count(got, "\n") > lines || len(got) > bytes {
				t.Errorf("the message has %d lines and %d bytes, want at most %d and %d", strings.Count(got, "\n"), len(got), lines, bytes)
			}
		})
	}
}
