/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package procgroup

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestRun_ReportVariableIsSet_ProgramIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	t.Setenv(ReportVariable, path)
	for range 2 {
		if err := Run(t.Context(), command("brief"), time.Second); err == nil {
			t.Fatal("the program succeeds, want exit status 3")
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if line := `\d+\.\d\d\tprocgroup\.test\n`; !regexp.MustCompile(`^` + line + line + `$`).Match(content) {
		t.Errorf("got report %q, want two lines with CPU seconds and procgroup.test", content)
	}
}
