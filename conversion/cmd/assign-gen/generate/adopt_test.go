/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
)

// adopted is a project with hand-written conversions of knative.dev/pkg, after assign-gen adopt. It returns what the command prints.
func adopted(t *testing.T) string {
	t.Helper()
	project(t)
	for name, content := range map[string]string{
		"lamp/v1beta1/doc.go":        "// Package v1beta1 is the older version.\npackage v1beta1\n",
		"lamp/v1beta1/types.go":      lampTypes("v1beta1", "Paint", "Shade"),
		"lamp/v1beta1/conversion.go": lampConversions,
		"lamp/v1/doc.go":             "// Package v1 is the stored version.\n//\n// +groupName=lamps.example.com\npackage v1\n",
		"lamp/v1/types.go":           strings.Replace(lampTypes("v1", "Color", "Screen"), "import metav1", lampImports, 1) + lampRest,
	} {
		write(t, name, content)
	}
	var printed strings.Builder
	a := args.New()
	a.InputDirs = []string{"./lamp/v1beta1", "./lamp/v1"}
	if err := Adopt(a, &printed); err != nil {
		t.Fatal(err)
	}
	return printed.String()
}

func lampTypes(version, color, shade string) string {
	return strings.NewReplacer("VERSION", version, "COLOR", color, "SHADE", shade).Replace(`package VERSION

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lamp is a kind.
//
// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec LampSpec ` + "`json:\"spec\"`" + `
}

// LampSpec is the desired state.
type LampSpec struct {
	// COLOR is the color.
	COLOR string ` + "`json:\"color,omitempty\"`" + `
	Shade *SHADE ` + "`json:\"shade,omitempty\"`" + `
}

// SHADE is around the lamp.
type SHADE struct {
	Size int32 ` + "`json:\"size,omitempty\"`" + `
}
`)
}

const (
	lampConversions = `package v1beta1

import (
	"context"
	"errors"

	"knative.dev/pkg/apis"

	v1 "example.com/project/lamp/v1"
)

var _ apis.Convertible = (*Lamp)(nil)

// ConvertTo converts to v1.
func (in *Lamp) ConvertTo(_ context.Context, to apis.Convertible) error {
	lamp, ok := to.(*v1.Lamp)
	if !ok {
		return errors.New("unknown version")
	}
	lamp.ObjectMeta = in.ObjectMeta
	lamp.Spec.Color = in.Spec.Paint
	lamp.Spec.Shade = shadeUp(in.Spec.Shade)
	return nil
}

// ConvertFrom converts from v1.
func (in *Lamp) ConvertFrom(_ context.Context, from apis.Convertible) error {
	lamp, ok := from.(*v1.Lamp)
	if !ok {
		return errors.New("unknown version")
	}
	in.ObjectMeta = lamp.ObjectMeta
	in.Spec.Paint = lamp.Spec.Color
	return nil
}

func shadeUp(shade *Shade) *v1.Screen {
	if shade == nil {
		return nil
	}
	return &v1.Screen{Size: shade.Size}
}
`
	lampImports = `import (
	"context"
	"errors"

	"knative.dev/pkg/apis"
)

import metav1`
	lampRest = `
// ConvertTo returns an error.
func (in *Lamp) ConvertTo(context.Context, apis.Convertible) error { return errors.New("v1 is the newest version") }

// ConvertFrom returns an error.
func (in *Lamp) ConvertFrom(context.Context, apis.Convertible) error { return errors.New("v1 is the newest version") }
`
)

// The markers are above what they are about, and what is printed can be deleted.
func TestAdopt_KnativeConversions_MarksTypesAndListsUnusedCode(t *testing.T) {
	printed := adopted(t)
	want := `lamp/v1beta1: 3 markers
lamp/v1: 2 markers
lamp/former: the former conversions, of 1 kinds, for the test in lamp/roundtrip/former_test.go
the generated conversions replace:
  lamp/v1beta1/conversion.go
  lamp/v1/types.go:35: Lamp.ConvertTo
  lamp/v1/types.go:38: Lamp.ConvertFrom
`
	if diff := cmp.Diff(want, printed); diff != "" {
		t.Errorf("adopt prints (-want +got): %s", diff)
	}
	for name, text := range map[string]string{
		"lamp/v1beta1/doc.go": "version.\n//\n// +conversion-gen:next=example.com/project/lamp/v1\npackage v1beta1\n",
		"lamp/v1/doc.go": "// +groupName=lamps.example.com\n// +conversion-gen:hub\n" +
			"// +conversion-gen:annotation=conversion.lamps.example.com/properties\npackage v1\n",
		"lamp/v1beta1/types.go":             "	// Paint is the color.\n	//\n	// +conversion:rename=Color\n	Paint string",
		"lamp/former/v1beta1/types.go":      "// kubebuilder:object:root=true\n",
		"lamp/roundtrip/former_test.go":     "return from.(*formerv1beta1.Lamp).ConvertTo(ctx, to.(*v1.Lamp))",
		"lamp/former/v1beta1/conversion.go": `v1 "example.com/project/lamp/v1"`,
	} {
		if got := read(t, name); !strings.Contains(got, text) {
			t.Errorf("%s lacks %q:\n%s", name, text, got)
		}
	}
	if got := read(t, "lamp/v1beta1/types.go"); !strings.Contains(got, "// Shade is around the lamp.\n//\n// +conversion:name=Screen\ntype Shade struct") {
		t.Errorf("the type has no marker with its new name:\n%s", got)
	}
}

// The command does not overwrite former conversions by generated ones, and names what it lacks.
func TestAdopt_NothingToAdopt_IsAnError(t *testing.T) {
	adopted(t)
	a := args.New()
	for _, test := range []struct {
		want     string
		versions []string
	}{
		{"lamp/former exists", []string{"./lamp/v1beta1", "./lamp/v1"}},
		{"no hand-written conversions", projectVersions},
	} {
		a.InputDirs = test.versions
		before := snapshot(t, ".")
		if err := Adopt(a, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.versions, err, test.want)
		}
		if diff := cmp.Diff(before, snapshot(t, ".")); diff != "" {
			t.Errorf("files changed (-want +got): %s", diff)
		}
	}
}
