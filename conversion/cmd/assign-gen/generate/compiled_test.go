//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
)

// goCommand runs the go command and returns what it says, and whether it succeeded.
func goCommand(t *testing.T, arguments ...string) (output string, ok bool) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput()
	return string(text), err == nil
}

func mustGo(t *testing.T, arguments ...string) {
	t.Helper()
	if output, ok := goCommand(t, arguments...); !ok {
		t.Fatalf("go %s: %s", strings.Join(arguments, " "), output)
	}
}

func TestRun_NoStoragePackage_Compiles(t *testing.T) {
	generatedProject(t)
	mustGo(t, "vet", "./...")
}

// The code that is generated for some of the kinds compiles.
func TestKinds_Some_Compile(t *testing.T) {
	generatedProject(t)
	a := args.New()
	a.InputDirs, a.Kinds = projectVersions, []string{"Gadget"}
	if err := Run(a, io.Discard); err != nil {
		t.Fatal(err)
	}
	mustGo(t, "vet", "./widget/v1", "./widget/roundtrip")
}

// A file that is too long is divided by kinds, and one again when it is not any more.
func TestRun_LongFiles_AreDividedByKinds(t *testing.T) {
	generatedProject(t)
	const most = 700
	a := args.New()
	a.InputDirs = projectVersions
	if err := runWithin(a, most, io.Discard); err != nil {
		t.Fatal(err)
	}
	var divided []string
	for file := range snapshot(t, "widget") {
		if filepath.Base(filepath.Dir(file)) == "v1beta1" && strings.HasPrefix(filepath.Base(file), "zz_generated.conversion") {
			divided = append(divided, filepath.Base(file))
		}
		if strings.HasPrefix(filepath.Base(file), "zz_generated.") && filepath.Base(file) != "zz_generated.deepcopy.go" {
			if lines := strings.Count(read(t, file), "\n"); lines > most {
				t.Errorf("%s has %d lines, want at most %d", file, lines, most)
			}
		}
	}
	slices.Sort(divided)
	want := []string{"zz_generated.conversion.gadget.go", "zz_generated.conversion.go", "zz_generated.conversion.widget.2.go", "zz_generated.conversion.widget.go"}
	if diff := cmp.Diff(want, divided); diff != "" {
		t.Error("v1beta1 has (-want +got):", diff)
	}
	mustGo(t, "vet", "./...")

	mustRun(t, projectVersions...)
	for file := range snapshot(t, "widget") {
		if strings.HasPrefix(filepath.Base(file), "zz_generated.conversion.") && read(t, file) != firstRun[file] {
			t.Errorf("%s differs from the file before files were divided, or did not exist", file)
		}
	}
}

// If a marker makes a hook mandatory, the compiler reports its name.
func TestRun_MandatoryHookMissing_DoesNotCompile(t *testing.T) {
	generatedProject(t)
	for _, name := range []string{"header_augment.go", "widgetspec_augment.go"} {
		if err := os.Remove(filepath.Join("widget", "v1alpha1", "storage", name)); err != nil {
			t.Fatal(err)
		}
	}
	output, ok := goCommand(t, "build", "./widget/v1alpha1/storage")
	for _, want := range []string{"*Header does not implement assignableHeader", "*WidgetSpec does not implement assignableWidgetSpec"} {
		if ok || !strings.Contains(output, want) {
			t.Errorf("go build said %q, want an error with %q", output, want)
		}
	}
}

// A hook that nothing makes mandatory and that is not quite right compiles, and would never be called.
func TestRun_HookWithWrongSignature_FailsTheGeneratedTest(t *testing.T) {
	generatedProject(t)
	const imports = "package storage\n\nimport (\n\tv1beta1storage \"" + projectPath + "/v1beta1/storage\"\n\tv1storage \"" + projectPath + "/v1/storage\"\n)\n\n"
	write(t, filepath.Join("widget", "v1alpha1", "storage", "port_augment.go"), imports+
		"func (in *Port) AssignPropertiesTo(dst *v1beta1storage.Port) error { return nil }\n\n"+
		"func (in *Step) AssignPropertiesTo(dst *v1beta1storage.Step) error { return nil }\n\n"+
		"func (in *Step) AssignPropertiesFrom(src *v1storage.Step) error { return nil }\n")
	output, ok := goCommand(t, "test", "-run", "^TestAugmentationsAreReachable$", "./widget/v1alpha1/storage")
	for _, want := range []string{
		"storage.Port: the method AssignPropertiesTo is never called, for it takes both; hooks are AssignPropertiesFrom(*" + projectPath + "/v1beta1/storage.Port) error and ",
		"storage.Step: the method AssignPropertiesFrom(*" + projectPath + "/v1/storage.Step) error is never called; it would have to be AssignPropertiesFrom(*" + projectPath + "/v1beta1/storage.Step) error",
	} {
		if ok || !strings.Contains(output, want) {
			t.Errorf("go test printed\n%s\nwant a failure with %q", output, want)
		}
	}
}

// A hook that takes a pointer of its source into its destination compiles, and two objects would change together.
func TestRun_HookSharesMemory_FailsTheGeneratedTest(t *testing.T) {
	generatedProject(t)
	hook := filepath.Join("widget", "v1alpha1", "storage", "port_augment.go")
	write(t, hook, "package storage\n\nimport v1beta1storage \""+projectPath+"/v1beta1/storage\"\n\n"+
		"func (in *Port) AssignPropertiesTo(dst *v1beta1storage.Port) error { dst.Name = in.Name; return nil }\n\n"+
		"func (in *Port) AssignPropertiesFrom(src *v1beta1storage.Port) error { return nil }\n")
	output, ok := goCommand(t, "test", "-run", "^TestAssignPropertiesOfPort$", "./widget/v1alpha1/storage")
	if want := "they share memory"; ok || !strings.Contains(output, want) {
		t.Errorf("go test printed\n%s\nwant a failure with %q", output, want)
	}
}

// When a newer version comes, hooks and what they were written against stay as they are; only the old hub gains a link.
func TestRun_NewVersion_LeavesOlderConversionsUnchanged(t *testing.T) {
	generatedProject(t)
	storage := func(version, name string) string { return filepath.Join("widget", version, "storage", name) }
	kept := make(map[string]string)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		for _, name := range []string{generators.TypesFile, generators.HorizontalFile, generators.TestFile} {
			kept[storage(version, name)] = read(t, storage(version, name))
		}
	}
	for _, hook := range []string{
		storage("v1alpha1", "header_augment.go"), storage("v1alpha1", "widgetspec_augment.go"), storage("v1beta1", "gadgetspec_augment.go"),
	} {
		kept[hook] = read(t, hook)
	}
	kept[storage("v1", generators.TypesFile)] = read(t, storage("v1", generators.TypesFile))
	hubWas := read(t, storage("v1", generators.HubFile))

	for _, name := range []string{"doc.go", "gadget_types.go", "widget_types.go", "zz_generated.deepcopy.go"} {
		write(t, filepath.Join("widget", "v2", name), strings.Replace(read(t, filepath.Join("widget", "v1", name)), "\npackage v1\n", "\npackage v2\n", 1))
	}
	// What these say of v1beta1 is not true of v1, which has the fields.
	for _, marker := range []string{
		"+conversion:older=drop,reason=older clients would be misled by it",
		"+conversion:older=drop,reason=it must not leave this version", "+conversion:older=augment",
	} {
		change(t, filepath.Join("widget", "v2", "gadget_types.go"), "\t// "+marker+"\n", "")
	}
	change(t, filepath.Join("widget", "v2", "widget_types.go"), "\t// Probe is new.\n", "\tLatest *string `json:\"latest,omitempty\"`\n\t// Probe is new.\n")
	doc := filepath.Join("widget", "v1", "doc.go")
	change(t, doc, "// +conversion-gen:hub\n", "// +conversion-gen:next="+projectPath+"/v2\n")
	change(t, doc, "// +conversion-gen:annotation=conversion.fixtures.mallard.dev/properties\n", "")
	change(t, doc, "// +conversion-gen:retired=v1alpha0\n", "")
	withV2 := append(slices.Clone(projectVersions), "./widget/v2")
	mustRun(t, withV2...)

	for path, content := range kept {
		if diff := cmp.Diff(content, read(t, path)); diff != "" {
			t.Errorf("%s (-before +after): %s", path, diff)
		}
	}
	if read(t, storage("v1", generators.HubFile)) == hubWas {
		t.Error("v1 is still the hub")
	}
	if got := read(t, storage("v1", generators.HorizontalFile)); !strings.Contains(got, `bagV2Latest = "v2/latest"`) {
		t.Errorf("v1 has no link to v2: %s", got)
	}
	deepCopy := filepath.Join("widget", "v2", "zz_generated.deepcopy.go")
	if err := os.Remove(deepCopy); err != nil { // it lacks the new field, and nothing here needs it
		t.Fatal(err)
	}
	mustGo(t, "build", "./...")

	// When the version is removed, its generated files are removed, too, but no file that a user wrote under such a name.
	if err := os.RemoveAll(filepath.Join("widget", "v2")); err != nil {
		t.Fatal(err)
	}
	write(t, doc, strings.Replace(read(t, doc), "// +conversion-gen:next="+projectPath+"/v2\n",
		"// +conversion-gen:hub\n// +conversion-gen:annotation=conversion.fixtures.mallard.dev/properties\n// +conversion-gen:retired=v2\n", 1))
	write(t, storage("v1", generators.TestFile), "package storage\n")
	mustRun(t, projectVersions...)
	if _, err := os.Stat(storage("v1", generators.HorizontalFile)); !os.IsNotExist(err) {
		t.Errorf("the link of v1 to v2 still exists: %v", err)
	}
	if got := read(t, storage("v1", generators.TestFile)); got != "package storage\n" {
		t.Errorf("a file that a user wrote is now %q", got)
	}
	mustGo(t, "build", "./...")
}
