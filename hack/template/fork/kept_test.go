/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"cmp"
	"os"
	"strings"
	"testing"
)

func TestKeeps_EachFile_IsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/how-to/fork.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("| product | files | reason |\n|---|---|---|\n")
	for _, k := range keeps {
		product := cmp.Or(k.product, "always")
		if k.product != "" {
			product = "`" + product + "`"
		}
		rows.WriteString("| " + product + " | `" + strings.Join(k.paths, "`, `") + "` | " + k.reason + " |\n")
	}
	if !strings.Contains(string(page), rows.String()+"\n") {
		t.Errorf("docs/how-to/fork.md lists other files than those that forks keep. Copy this table:\n%s", &rows)
	}
}
