//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
)

// otherFixture is a second API, whose versions use types of each other.
const otherFixture = "shared"

var (
	otherVersions = []string{"./shared/v1alpha1", "./shared/v1beta1", "./shared/v1"}
	bothVersions  = []string{"./widget/v1", "./shared/v1beta1", "./widget/v1alpha1", "./shared/v1", "./widget/v1beta1", "./shared/v1alpha1"}
)

// severalAPIs is a project with two APIs, before anything was generated. The first has a field with a type of the second.
func severalAPIs(t *testing.T) {
	t.Helper()
	other := handWritten(t, otherFixture)
	project(t)
	writeAPI(t, other)
	types := filepath.Join("widget", "v1", "widget_types.go")
	change(t, types, "\n\tduckv1 \"", "\n\troutes \""+projectModule+"/shared/v1beta1\"\n\tduckv1 \"")
	change(t, types, "\t// Ports is new.\n", "\tRoutes *routes.RouteStatus `json:\"routes,omitempty\"`\n\t// Ports is new.\n")
}

// Neither does the order of the packages matter, nor that planning one API changes the descriptions of types that the other uses.
func TestRun_SeveralAPIs_WritesWhatSeparateRunsWrite(t *testing.T) {
	after := func(runs ...[]string) (contents map[string]string) {
		t.Run("", func(t *testing.T) {
			severalAPIs(t)
			for _, versions := range runs {
				mustRun(t, versions...)
			}
			contents = snapshot(t, ".")
			for path, content := range contents {
				_, contents[path], _ = strings.Cut(content, "\n") // without the time
			}
		})
		return contents
	}
	want := after(projectVersions, otherVersions)
	if lock := want[filepath.Join("widget", "conversion.lock")]; !strings.Contains(lock, " v1/routes ") {
		t.Errorf("the first API does not keep the field with a type of the second: %s", lock)
	}
	if diff := cmp.Diff(want, after(bothVersions)); diff != "" {
		t.Error("(-separate runs +one run):", diff)
	}
}

// Whatever is wrong with an API, the other one is checked too, no file of either is touched, and nothing is left behind.
func TestRun_SeveralAPIs_AnyProblem_WritesNothing(t *testing.T) {
	const changed, lost = ": E01 v1beta1.WidgetSpec.Matrix ([][]int64) → ", "shared/conversion.lock:1: E11 v1 Property v1beta1/lost: "
	storage := filepath.Join("widget", "v1", "storage")
	changeType := func(t *testing.T) {
		t.Helper()
		change(t, filepath.Join("widget", "v1", "widget_types.go"), "Matrix  [][]int64 `json:\"matrix\"`", "Matrix  map[string]int64  `json:\"matrix\"`")
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T)
		want  []string
	}{
		"a type of one": {changeType, []string{changed}},
		"a type of one, the lock of the other": {func(t *testing.T) {
			t.Helper()
			changeType(t)
			write(t, filepath.Join("shared", "conversion.lock"), "v1 Property v1beta1/lost string\n")
		}, []string{changed, lost}},
		"a file in place of a folder": {func(t *testing.T) {
			t.Helper()
			write(t, storage, "a file")
		}, []string{storage}},
	} {
		t.Run(name, func(t *testing.T) {
			severalAPIs(t)
			test.spoil(t)
			before := snapshot(t, ".")
			err := run(bothVersions...)
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the run ended with %v, want %q", err, want)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, ".")); diff != "" {
				t.Error("(-before +after):", diff)
			}
		})
	}
}

// A kind does not say which API it belongs to, and the others might not have it.
func TestRun_SeveralAPIs_KindsAreRejected(t *testing.T) {
	severalAPIs(t)
	a := args.New()
	a.InputDirs, a.Kinds = bothVersions, []string{"Gadget"}
	if err := Run(a, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "--kinds ") {
		t.Errorf("the run ended with %v, want an error that names --kinds", err)
	}
}
