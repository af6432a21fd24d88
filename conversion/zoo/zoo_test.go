/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the page, and complete zoo.mod and zoo.sum of each API")

// goFlags are those for the go command. It need not read the repository in which the generator is.
const goFlags = "-trimpath -buildvcs=false"

// keepVariable is the environment variable with the folder in which the projects are kept.
const keepVariable = "ZOO"

func TestZoo_EachAPI_ConvertsWithoutLoss(t *testing.T) {
	generator := builtGenerator(t)
	for _, api := range apis(t) {
		t.Run(api.Name, func(t *testing.T) {
			p := assembled(t, api)
			if err := run(p.Command(t.Context(), generator, "--input-dirs", p.Versions())); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := p.Tidy(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			trips := filepath.Join(t.TempDir(), "trips")
			output, err := p.Test(t.Context(), trips).CombinedOutput()
			if err != nil {
				t.Fatalf("the generated tests: %v\n%s", err, output)
			}
			t.Logf("%s", output)
			t.Run("compared", func(t *testing.T) { comparesAsExplained(t, p, trips) })
		})
	}
}

// comparesAsExplained expects trips of each kind in each direction, and that the file of differences lists all differences from
// the conversions of the other project, and no others.
func comparesAsExplained(t *testing.T, p *Project, trips string) {
	t.Helper()
	file, err := os.Open(trips)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	got, err := p.Compare(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	versions := len(p.api.Versions)
	if want := len(p.api.Kinds) * versions * (versions - 1); len(got.Objects) != want {
		t.Errorf("trips of %d kinds and directions, want %d", len(got.Objects), want)
	}
	for _, way := range slices.Sorted(maps.Keys(got.Objects)) {
		if got.Objects[way] != tripsEach {
			t.Errorf("%s: %d objects, want %d", way, got.Objects[way], tripsEach)
		}
		t.Logf("%s: %d objects, none of which assign-gen changes on the way there and back", way, got.Objects[way])
	}
	for _, each := range got.Unexplained {
		t.Errorf("%s does not explain %s", differencesFile, each)
	}
	for _, each := range got.Unused {
		t.Errorf("no object differs as %s explains: %s", differencesFile, each)
	}
	if p.api.Upstream != nil {
		t.Logf("upstream changes %d objects on the way there and back, and fails to convert %d", got.LostUpstream, got.FailedUpstream)
	}
}

// apis are the APIs below testdata.
func apis(t *testing.T) []*API {
	t.Helper()
	settings, err := filepath.Glob(filepath.Join("testdata", "*", settingsFile))
	if err != nil || len(settings) == 0 {
		t.Fatalf("no API in testdata: %v", err)
	}
	all := make([]*API, len(settings))
	for i, each := range settings {
		if all[i], err = Load(filepath.Dir(each)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// assembled is the project of an API, before anything is generated.
func assembled(t *testing.T, api *API) *Project {
	t.Helper()
	dir, flags := t.TempDir(), goFlags
	if keep := os.Getenv(keepVariable); keep != "" {
		dir = filepath.Join(keep, api.Name)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		flags += " -mod=mod"
	}
	p, err := api.Assemble(t.Context(), dir, flags)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// builtGenerator builds assign-gen, and returns its path.
func builtGenerator(t *testing.T) string {
	t.Helper()
	generator := filepath.Join(t.TempDir(), "assign-gen")
	p := &Project{dir: "../cmd/assign-gen", flags: goFlags}
	if err := run(p.Command(t.Context(), "go", "build", "-o", generator)); err != nil {
		t.Fatalf("building assign-gen: %v", err)
	}
	return generator
}
