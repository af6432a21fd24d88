/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"strings"
	"testing"
)

func TestWrapped_LongLines_MoveTheirRestToTheNextLine(t *testing.T) {
	long := "\t// " + strings.Repeat("word ", 27) + "last words\n"
	broken, rest := "\t// "+strings.Repeat("word ", 26)+"word\n", "last words"
	for name, tc := range map[string]struct{ source, want string }{
		"Sentence":     {long + "\t// of it.\n\tx int\n", broken + "\t// " + rest + " of it.\n\tx int\n"},
		"LastLine":     {long + "\tx int\n", broken + "\t// " + rest + "\n\tx int\n"},
		"EndOfFile":    {long, broken + "\t// " + rest + "\n"},
		"List":         {long + "\t//   - item\n", broken + "\t// " + rest + "\n\t//   - item\n"},
		"Marker":       {long + "\t// +optional\n", broken + "\t// " + rest + "\n\t// +optional\n"},
		"OtherIndent":  {long + "// of it.\n", broken + "\t// " + rest + "\n// of it.\n"},
		"LongMarker":   {"// +" + long, "// +" + long},
		"LongCode":     {strings.Repeat("x ", 100) + "\n", strings.Repeat("x ", 100) + "\n"},
		"SeveralLines": {long + long, broken + "\t// " + rest + strings.Repeat(" word", 25) + "\n\t// " + strings.Repeat("word ", 2) + rest + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wrapped(tc.source); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}
