/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"text/template"
)

// Trip is an object of one version, converted to another one and back.
type Trip struct {
	Kind      string          `json:"kind"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Object    json.RawMessage `json:"object"`
	Converted json.RawMessage `json:"converted"`
	Back      json.RawMessage `json:"back"`
}

// tripsVariable is the environment variable that names the file for the trips.
const tripsVariable = "ZOO_TRIPS"

// tripsTest is a test beside the generated ones that writes trips of random objects, instead of comparing them.
var tripsTest = template.Must(template.New("").Parse(`package roundtrip

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest"
	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

func TestTrips(t *testing.T) {
	file, err := os.Create(os.Getenv("` + tripsVariable + `"))
	if err != nil {
		t.Fatal(err)
	}
	encoder := json.NewEncoder(file)
	for _, each := range []struct {
		name string
		kind conversiontest.Kind
	}{
{{- range .}}
		{"{{.}}", conversionOf{{.}}()},
{{- end}}
	} {
		random := each.kind.Random(t)
		for _, from := range each.kind.Versions {
			for _, to := range each.kind.Versions {
				if from.Name == to.Name {
					continue
				}
				for range testrand.Inputs(t) {
					object, converted, back := random(from), to.New(), from.New()
					err := each.kind.Converters[0](t.Context(), object, converted)
					if err == nil {
						err = each.kind.Converters[0](t.Context(), converted, back)
					}
					if err == nil {
						err = encoder.Encode(map[string]any{
							"kind": each.name, "from": from.Name, "to": to.Name, "object": object, "converted": converted, "back": back,
						})
					}
					if err != nil {
						t.Fatal(err)
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

// WriteTrips converts 1,000 random objects of each kind and version to each other version and back, and writes them into a file. The objects are
// the same in each run, so that the same differences are found.
func (p *Project) WriteTrips(ctx context.Context, file string) error {
	var text bytes.Buffer
	if err := tripsTest.Execute(&text, p.api.Kinds); err != nil {
		return fmt.Errorf("writing the test for trips: %w", err)
	}
	if err := p.write("roundtrip/trips_test.go", text.Bytes()); err != nil {
		return err
	}
	command := p.Command(ctx, "go", "test", "-vet=off", "-count=1", "-run=^TestTrips$", "./roundtrip")
	command.Env = append(command.Env, tripsVariable+"="+file, "MALLARD_TEST_SEED=1", "MALLARD_TEST_INPUTS=1000")
	command.Stdout = os.Stderr
	return run(command)
}
