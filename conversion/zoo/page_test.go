/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPage_Document_IsCurrent(t *testing.T) {
	const path = "../../docs/reference/conversion-zoo.md"
	if _, err := os.Stat("../../docs/README.md"); err != nil {
		return // a fork may have generated documents only
	}
	want := document(t, apis(t))
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
		t.Errorf("%s: run go -C conversion/zoo test -run TestPage -update: %v\n%s", path, err, diff)
	}
}

func TestCountCode_BlankLinesAndComments_DoNotCount(t *testing.T) {
	const code = `// A comment.
package p

/* another
one */ var a = 1 // counts

var text = ` + "`two\nlines`" + `

func f() {
	// nothing
	f(); f()
}
`
	if got, want := countCode([]byte(code)), 7; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
}
