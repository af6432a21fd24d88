/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"text/template"
)

// Trip is an object of one version, and what it is converted to.
type Trip struct {
	Kind      string          `json:"kind"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Object    json.RawMessage `json:"object"`
	Converted json.RawMessage `json:"converted"`
}

const (
	// tripsVariable is the environment variable that names the file for the trips.
	tripsVariable = "ZOO_TRIPS"
	// tripsEach is the number of objects of each kind that are converted from each version to each other one.
	tripsEach = 1000
)

// tripsTest is a test next to the generated ones. It expects that objects of each kind return unchanged from each other version, and
// writes their trips. The objects are the same in each run, so that the same differences from another project are found.
var tripsTest = template.Must(template.New("").Parse(`package roundtrip

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/conversiontest"
	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

func TestTrips(t *testing.T) {
	t.Setenv(testrand.SeedVariable, "1")
	file, err := os.Create(os.Getenv("` + tripsVariable + `"))
	if err != nil {
		t.Fatal(err)
	}
	encoder := json.NewEncoder(file)
	written := func(text []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	same := func(before, after json.RawMessage) bool {
		return bytes.Equal(before, after) || bytes.Equal(written(conversion.Canonical(before)), written(conversion.Canonical(after)))
	}
	for _, each := range []struct {
		name string
		kind conversiontest.Kind
	}{
{{- range .Kinds}}
		{"{{.}}", conversionOf{{.}}()},
{{- end}}
	} {
		random := each.kind.Random(t)
		for _, from := range each.kind.Versions {
			for _, to := range each.kind.Versions {
				if from.Name == to.Name {
					continue
				}
				for range {{.Each}} {
					object, converted, back := random(from), to.New(), from.New()
					before := written(json.Marshal(object))
					err := each.kind.Converters[0](t.Context(), object, converted)
					if err == nil {
						err = each.kind.Converters[0](t.Context(), converted, back)
					}
					if err == nil {
						err = encoder.Encode(map[string]any{
							"kind": each.name, "from": from.Name, "to": to.Name, "object": json.RawMessage(before), "converted": converted,
						})
					}
					if err != nil {
						t.Fatal(err)
					}
					if after := written(json.Marshal(back)); !same(before, after) {
						t.Fatalf("%s %s → %s → %s\nbefore %s\nafter  %s", each.name, from.Name, to.Name, from.Name, before, after)
					}
				}
			}
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
`))

// writeTripsTest adds the test for trips to the generated ones.
func (p *Project) writeTripsTest(t testing.TB) {
	t.Helper()
	p.writeTest(t, "trips_test.go", tripsTest, map[string]any{"Kinds": p.api.Kinds, "Each": tripsEach})
}

// Test returns the command that runs the generated tests, tries the hand-made objects, and writes the trips into a file. Hand-made objects need not have
// all fields.
func (p *Project) Test(ctx context.Context, trips string) *exec.Cmd {
	command := p.Command(ctx, "go", "test", "-vet=off", "-skip=^TestObjects$/./every_leaf$|^TestFormer$", "./...")
	command.Env = append(command.Env, tripsVariable+"="+trips)
	return command
}
