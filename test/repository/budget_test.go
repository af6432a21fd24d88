/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The programs that make test links with client-go, each of which costs one to two CPU seconds. Suites are linked in each run, and unit tests when
// something that they import has changed. Those of a kind do not count, since each kind needs them. To stay below, add tests to an existing package,
// or nightly ones.
const (
	mostLinkedSuites = 15
	mostLinkedUnits  = 25
)

func TestBudget_ProgramsLinkedWithClientGo_AreFew(t *testing.T) {
	suites, units := linked(t)
	for _, budget := range []struct {
		what     string
		packages []string
		most     int
	}{{"suites", suites, mostLinkedSuites}, {"packages with unit tests", units, mostLinkedUnits}} {
		if len(budget.packages) > budget.most {
			t.Errorf("make test links %d %s with client-go, the budget is %d:\n%s",
				len(budget.packages), budget.what, budget.most, strings.Join(budget.packages, "\n"))
		}
	}
}

// linked returns the packages of the operator whose tests are linked with client-go, apart from the suite and the reconciler of each kind.
func linked(t *testing.T) (suites, units []string) {
	t.Helper()
	kinds, err := filepath.Glob("../../pkg/reconciler/*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range kinds {
		kinds[i] = filepath.Base(kinds[i])
	}
	list := output(t, "go", "list", "-test", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{range .Deps}} {{.}}{{end}}{{end}}`, "./...")
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) == 0 || filepath.Ext(fields[0]) != ".test" || !slices.Contains(fields, "k8s.io/client-go/rest") {
			continue
		}
		if slices.Contains(kinds, strings.TrimSuffix(path.Base(fields[0]), ".test")) {
			continue
		}
		if strings.Contains(fields[0], "/test/") {
			suites = append(suites, fields[0])
		} else {
			units = append(units, fields[0])
		}
	}
	return suites, units
}
