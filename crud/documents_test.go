/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of the documentation says for each class whether repeating can help.
func TestRetriable_EachClass_IsAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/crud.md")
	if err != nil {
		t.Fatal(err)
	}
	version := "1"
	patch := MergePatch(Ref{Kind: "ConfigMap", Name: "a"}, "{}")
	stale := patch
	stale.Preconditions.ResourceVersion = &version
	appending := JSONPatch(patch.Ref, `[{"op":"add","path":"/list/-","value":1}]`)
	identified := appending
	identified.ID = "id"
	_, classes, _ := strings.Cut(string(page), "## Classes of errors")
	documented := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\| .* \\| (yes|no|if .*) \\|.*\\|$").FindAllStringSubmatch(classes, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			documented++
			class := Class(strings.Trim(name, "`"))
			retriable := func(op Operation) bool {
				return Retriable(fmt.Errorf("wrapped: %w", (&call{op: op}).failed(t.Context(), class.errorf("failed"))))
			}
			want := map[string][]bool{
				"yes": {true, true, true, true}, "no": {false, false, false, false}, "if the operation requires no `resourceVersion`": {true, false, true, true},
				"if the operation is repeatable, or has an id": {true, true, false, true},
			}[row[2]]
			if got := []bool{retriable(patch), retriable(stale), retriable(appending), retriable(identified)}; !slices.Equal(got, want) {
				t.Errorf("%s: a patch, one with a resourceVersion, one that appends, and one with an id are retriable: %v; the documentation says %q", class, got, row[2])
			}
		}
	}
	if documented != 22 {
		t.Errorf("the documentation has %d classes", documented)
	}
	passing, lasting := numbered(0, Terminating.errorf("failed")), numbered(1, Invalid.errorf("failed"))
	if Retriable(nil) || !Retriable(errors.Join(passing, passing)) || Retriable(errors.Join(passing, lasting)) {
		t.Error("of several errors, one that lasts does not decide")
	}
}
