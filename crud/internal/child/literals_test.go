/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLiterals_Programs_AreValuesAndNoNames(t *testing.T) {
	for program, want := range map[string][]string{
		`.data.z = 1234`: {"1234"},
		`"hunter2" as $p | .stringData.password = $p`:      {"hunter2"},
		`.data["tls.crt"] = ("a\"b\u0026" | @base64)`:      {`a"b&`},
		`{"data": {"key": "value"}, other: ["x", "y"]}`:    {"value", "x", "y"},
		`."a b" = "prefix-\(.metadata.name)-suffix"`:       {"prefix-", "-suffix"},
		"# a comment with \" and 'words'\n.a = \"hunter\"": {"hunter"},
		`.a = "x\(1`:    {`1`},
		`del(.data.a)`:  nil,
		`.a = "un\qt" `: {`un\qt`},
	} {
		if diff := cmp.Diff(want, Literals(program)); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", program, diff)
		}
	}
}

func FuzzLiterals(f *testing.F) {
	f.Add(`.a = "`, `" | .b`)
	f.Fuzz(func(t *testing.T, before, after string) {
		program := before + ` | "hunter2" as $p | ` + after
		if _, err := compile(before + " | 1 as $p | " + after); err != nil || strings.ContainsAny(before+after, `"#\`) {
			return
		}
		if !strings.Contains(strings.Join(Literals(program), " "), "hunter2") {
			t.Errorf("the string is not found in %s", program)
		}
	})
}
