//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generated

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One run in a copy of the checkout shows each kind of fault, because a run takes a while.
func TestVerifyCodegen_StaleFiles_AreReported(t *testing.T) {
	checkout := copyOfSources(t)

	const (
		types    = "pkg/apis/samples/v1/addressableservice_types.go"
		deepcopy = "pkg/apis/samples/v1/zz_generated.deepcopy.go"
		crd      = "config/300-addressableservice.yaml"
		fixture  = "conversion/fixtures/widget/v1/widget_types.go"
		fates    = "conversion/fixtures/widget/zz_generated.conversion-report.md"
		keys     = "conversion/fixtures/widget/conversion.lock"
		edited   = "pkg/client/listers/samples/v1/addressableservice.go"
		leftover = "pkg/client/listers/samples/v1/dodo.go"
		fields   = "docs/reference/api/addressableservice-fields.md"
		reasons  = "docs/reference/reasons-and-events.md"
		cycle    = "addressableservice_lifecycle.go"
		spec     = "type AddressableServiceSpec struct {\n"
	)
	// A new field makes the deep copies and the CRD stale.
	change(t, filepath.Join(checkout, types), spec, spec+"\t// Shown by a test.\n\t// +optional\n\t// +kubebuilder:validation:MaxLength=9\n\tStale *string `json:\"stale,omitempty\"`\n\n")
	// So does one for the conversions, which are listed in a report, and what they keep for other versions in a lock.
	change(t, filepath.Join(checkout, fixture), "\t// Ports is new.\n", "\tLate string `json:\"late,omitempty\"`\n\t// Ports is new.\n")
	// A comment of a reason is the text of a page.
	change(t, filepath.Join(checkout, filepath.Dir(types), cycle), "(False): no object of that kind", "(False): not one object of that kind")
	change(t, filepath.Join(checkout, edited), "// Code generated", "// Edited by hand.\n\n// Code generated")
	if err := os.WriteFile(filepath.Join(checkout, leftover), []byte("package v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	expectStale(t, checkout, "verify-codegen.sh",
		"+++ ", "/"+deepcopy, "in.Stale",
		"/"+crd, "Shown by a test.",
		"/"+fields, "+| `spec.stale` |", "/"+reasons, "+| `TargetNotFound` | False | Not one object",
		"/"+fates, "+|  | `late` string | stashed at v1beta1 |",
		"/"+keys, "+v1beta1 WidgetStatus v1/late string",
		"/"+edited, "-// Edited by hand.",
		"--- "+leftover, "-package v1",
		"make generate",
	)
}

// copyOfSources copies the inputs of the generators.
func copyOfSources(t *testing.T) string {
	t.Helper()
	checkout := t.TempDir()
	for _, path := range []string{"go.mod", "go.sum", "cmd", "confidential", "conversion", "crud", "hack", "observe", "pkg", "config", "docs"} {
		copyAll(t, filepath.Join(root, path), filepath.Join(checkout, path))
	}
	return checkout
}

func TestUpdateCodegen_FieldHasNoDescription_FailsBeforeAnyOtherGenerator(t *testing.T) {
	checkout := copyOfSources(t)
	const spec = "type SimpleDeploymentSpec struct {\n"
	change(t, filepath.Join(checkout, "pkg/apis/samples/v1alpha1/simpledeployment_types.go"), spec, spec+"\t// +optional\n\tBare string `json:\"bare,omitempty\"`\n\n")
	report := expectStale(t, checkout, "update-codegen.sh",
		"SimpleDeployment.v1alpha1.spec.bare has no description: write a comment above the field",
		"SimpleDeployment.v1alpha1.spec.bare is a string of any length: set MaxLength or Enum")
	if started := strings.Count(report, "codegen: "); started != 1 {
		t.Errorf("%d generators started, want 1:\n%s", started, report)
	}
}
