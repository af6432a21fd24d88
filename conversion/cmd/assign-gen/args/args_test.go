/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package args_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
)

// A command line that cannot be meant is rejected with the flag's name and what would be right.
func TestArgs_InvalidCommandLine_ReturnsErrorWithFlagAndRemedy(t *testing.T) {
	elsewhere, err := filepath.Abs("elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	const place = ": name it by its path from the folder above the hub's package"
	for name, test := range map[string]struct {
		change func(a *args.Args)
		want   string
	}{
		"no packages":           {func(a *args.Args) { a.InputDirs = nil }, "--input-dirs is empty: name the API package of every version"},
		"round trips elsewhere": {func(a *args.Args) { a.RoundTripDir = elsewhere }, "--round-trip-dir is " + elsewhere + place},
		"no such interface":     {func(a *args.Args) { a.Interface = "kubebuilder" }, `--interface is "kubebuilder": choose knative or controller-runtime`},
	} {
		t.Run(name, func(t *testing.T) {
			a := args.New()
			a.InputDirs = []string{"./v1"}
			if err := a.Validate(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			test.change(a)
			if err := a.Validate(); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// With several APIs, an argument that is about one of them, or that has one write over the files of another, is rejected.
func TestArgs_SeveralAPIs_ReturnErrorForArgumentsOfOne(t *testing.T) {
	for name, test := range map[string]struct {
		change func(a *args.Args)
		want   string
	}{
		"defaults":       {func(*args.Args) {}, ""},
		"folder inside":  {func(a *args.Args) { a.RoundTripDir = "tests/roundtrip" }, ""},
		"no round trips": {func(a *args.Args) { a.RoundTripDir = "" }, ""},
		"kinds":          {func(a *args.Args) { a.Kinds = []string{"Widget"} }, "--kinds selects kinds of one API, "},
		"one folder":     {func(a *args.Args) { a.RoundTripDir = "../roundtrip" }, "--round-trip-dir is ../roundtrip, "},
	} {
		t.Run(name, func(t *testing.T) {
			a := args.New()
			test.change(a)
			err := a.ValidateSeveral()
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// The header of every file has to be a comment, or the generated files would be invalid.
func TestArgs_HeaderThatIsNoComment_IsRejected(t *testing.T) {
	file := filepath.Join(t.TempDir(), "header.txt")
	for content, want := range map[string]string{
		"/*\nLicense.\n*/\n\n": "/*\nLicense.\n*/\n",
		"// License.":          "// License.\n",
		"License.":             "",
		"/* License.":          "",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := (&args.Args{HeaderFile: file}).Header()
		switch {
		case want != "" && (err != nil || got != want):
			t.Errorf("%q: got %q and %v, want %q", content, got, err, want)
		case want == "" && (err == nil || !strings.HasPrefix(err.Error(), "--go-header-file holds something else than a comment: "+file)):
			t.Errorf("%q: %v, want an error that names the flag and the file", content, err)
		}
	}
}
