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
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
)

// What releases have written is not forgotten with a kind: the run fails as if the kind had been removed.
func TestKinds_LeaveOutNoneThatIsReleased(t *testing.T) {
	generatedProject(t)
	lock, a := filepath.Join("widget", "conversion.lock"), args.New()
	a.InputDirs, a.Kinds = projectVersions, []string{"Gadget"}
	if err := Run(a, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join("widget", "v1", generators.EdgeFile)); !strings.Contains(got, "*Gadget)") || strings.Contains(got, "*Widget)") {
		t.Errorf("v1 has other conversions than those of Gadget: %s", got)
	}

	write(t, lock, strings.ReplaceAll(firstRun[lock], "unreleased\n", ""))
	before := snapshot(t, "widget")
	err := Run(a, io.Discard)
	if want := ": E11 v1beta1 WidgetSpec v1/probe: "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "or, if --kinds") {
		t.Errorf("the run ended with %v, want %q", err, want)
	}
	if diff := cmp.Diff(before, snapshot(t, "widget")); diff != "" {
		t.Error("(-before +after):", diff)
	}
}
