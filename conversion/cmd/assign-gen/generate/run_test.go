/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
)

// Without a storage package on disk one run is enough, and the next one changes nothing, not even a file's time.
func TestRun_NoStoragePackage_SecondRunChangesNothing(t *testing.T) {
	generatedProject(t)
	var written []string
	for _, path := range slices.Sorted(maps.Keys(firstRun)) {
		written = append(written, filepath.ToSlash(path))
	}
	want := []string{
		"widget/conversion.lock",
		"widget/roundtrip/zz_generated.roundtrip_test.go",
		"widget/v1/storage/zz_generated.copies.go",
		"widget/v1/storage/zz_generated.hub.go",
		"widget/v1/storage/zz_generated.types.go",
		"widget/v1/zz_generated.conversion.go",
		"widget/v1alpha1/storage/zz_generated.conversion.go",
		"widget/v1alpha1/storage/zz_generated.conversion_test.go",
		"widget/v1alpha1/storage/zz_generated.copies.go",
		"widget/v1alpha1/storage/zz_generated.hub.go",
		"widget/v1alpha1/storage/zz_generated.types.go",
		"widget/v1alpha1/zz_generated.conversion.go",
		"widget/v1beta1/storage/zz_generated.conversion.go",
		"widget/v1beta1/storage/zz_generated.conversion_test.go",
		"widget/v1beta1/storage/zz_generated.copies.go",
		"widget/v1beta1/storage/zz_generated.hub.go",
		"widget/v1beta1/storage/zz_generated.types.go",
		"widget/v1beta1/zz_generated.conversion.go",
		"widget/zz_generated.conversion-report.md",
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Error("written (-want +got):", diff)
	}

	before := snapshot(t, "widget")
	mustRun(t, projectVersions...)
	if diff := cmp.Diff(before, snapshot(t, "widget")); diff != "" {
		t.Error("the second run (-before +after):", diff)
	}
}

// A run that succeeds prints how many fields of a version and the next one are treated in which way, and names all that one of them does not show.
func TestRun_Success_PrintsASummary(t *testing.T) {
	generatedProject(t)
	a := args.New()
	a.InputDirs = projectVersions
	var out strings.Builder
	if err := Run(a, &out); err != nil {
		t.Fatal(err)
	}
	const want = `v1alpha1 → v1beta1: 50 fields copied, 11 kept in the annotation (Common.added, Limits.most, Node.note, Peer.secure, WidgetSpec.kept, WidgetSpec.legacy,
        WidgetSpec.location.floor, WidgetSpec.location.rooms, WidgetSpec.selector, WidgetSpec.template, WidgetStatus.addresses), 4 decided by hooks or
        functions, 1 not representable (WidgetSpec.unread); see widget/zz_generated.conversion-report.md
v1beta1 → v1: 75 fields copied, 7 kept in the annotation (Header.overwrite, Port.protocol, Step.code, WidgetSpec.legacy, WidgetSpec.probe, WidgetSpec.template,
        WidgetStatus.ports), 1 decided by hooks or functions, 2 not representable (GadgetSpec.secret, GadgetSpec.unseen); see
        widget/zz_generated.conversion-report.md
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

// Whatever is wrong, no file is touched, nor is anything left behind.
func TestRun_AnyProblem_WritesNothing(t *testing.T) {
	generatedProject(t)
	change(t, filepath.Join("widget", "conversion.lock"), "unreleased\n", "")
	types := filepath.Join("widget", "v1", "widget_types.go")
	good := read(t, types)
	for name, test := range map[string]struct{ from, to, want string }{
		"a type that is not converted": {
			"Matrix  [][]int64 `json:\"matrix\"`", "Matrix  map[string]int64  `json:\"matrix\"`",
			": E01 v1beta1.WidgetSpec.Matrix ([][]int64) → v1.WidgetSpec.Matrix (map[string]int64): no conversion from slice to map\n    fix: ",
		},
		"a released key that changed": {"`json:\"probe,omitempty\"`", "`json:\"probes,omitempty\"`", ": E11 v1beta1 WidgetSpec v1/probe: "},
		"a file that does not parse":  {"type Probe struct {", "type Probe struct", "loading packages: "},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, types, good)
			change(t, types, test.from, test.to)
			before := snapshot(t, "widget")
			err := run(projectVersions...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the run ended with %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(before, snapshot(t, "widget")); diff != "" {
				t.Error("(-before +after):", diff)
			}
		})
	}
	write(t, types, good)
	before := snapshot(t, "widget")
	if err := run("./widget/v1alpha1", "./widget/v1beta1"); err == nil {
		t.Error("a version is missing, and the run succeeded")
	}
	if diff := cmp.Diff(before, snapshot(t, "widget")); diff != "" {
		t.Error("(-before +after):", diff)
	}
}

// A pattern may match no package, and a run that does nothing would be taken for one that succeeded.
func TestRun_NoPackage_IsAnError(t *testing.T) {
	project(t)
	if err := run("./nothing/..."); err == nil || !strings.Contains(err.Error(), "./nothing/...") {
		t.Errorf("the run ended with %v, want an error that names the pattern", err)
	}
}
