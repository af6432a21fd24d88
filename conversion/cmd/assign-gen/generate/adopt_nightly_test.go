//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"os"
	"strings"
	"testing"
)

// Once what adopt prints is deleted, code is generated, and the test explains what it converts differently from the former code.
func TestAdopt_UnusedCodeDeleted_ComparesConversions(t *testing.T) {
	adopted(t)
	if err := os.Remove("lamp/v1beta1/conversion.go"); err != nil {
		t.Fatal(err)
	}
	types, _, _ := strings.Cut(read(t, "lamp/v1/types.go"), "\n// ConvertTo")
	_, types, _ = strings.Cut(types, ")\n\nimport")
	write(t, "lamp/v1/types.go", "package v1\n\nimport"+types)
	mustRun(t, "./lamp/v1beta1", "./lamp/v1")

	const missing = `"v1 → v1beta1: spec.shade": only the generated conversion shows {`
	output, ok := goCommand(t, "test", "-vet=off", "./lamp/...")
	if ok || !strings.Contains(output, missing) || strings.Count(output, "\n        ") > 60 {
		t.Fatalf("the tests do not show %s:\n%s", missing, output)
	}
	change(t, "lamp/roundtrip/former_test.go", "Known: map[string]string{}",
		`Known: map[string]string{"v1 → v1beta1: spec.shade": "the former conversion forgot it"}`)
	mustGo(t, "test", "-vet=off", "./lamp/...")
}

// The functions of conversion-gen compile as copies, and the test compares them.
func TestAdopt_FunctionsOfConversionGenDeleted_ComparesConversions(t *testing.T) {
	adoptedFunctions(t)
	for _, unused := range []string{"lamp/v1beta1/conversion.go", "lamp/v1beta1/zz_generated.conversion.go"} {
		if err := os.Remove(unused); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "./lamp/v1beta1", "./lamp/v1")
	const missing = `"v1 → v1beta1: spec.shade": only the generated conversion shows {`
	if output, ok := goCommand(t, "test", "-vet=off", "./lamp/..."); ok || !strings.Contains(output, missing) {
		t.Fatalf("the tests do not show %s:\n%s", missing, output)
	}
}
