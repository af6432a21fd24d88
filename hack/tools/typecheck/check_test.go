/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sound compiles everywhere and with every tag.
var sound = map[string]string{
	"go.mod":            "module example.com/sound\n\ngo 1.26.0\n",
	"sound.go":          "package sound\n\nvar _ = system\n",
	"system_linux.go":   "package sound\n\nimport \"syscall\"\n\nconst system = syscall.PTRACE_ATTACH\n",
	"system_darwin.go":  "package sound\n\nimport \"syscall\"\n\nconst system = syscall.PT_ATTACH\n",
	"system_windows.go": "package sound\n\nconst system = 1\n",
}

func TestWhatDoesNotCompileIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		flags      []string
		want       string
	}{
		"nothing":           {},
		"another system":    {"more_darwin.go", "package sound\n\nimport \"syscall\"\n\nconst _ = syscall.PTRACE_ATTACH\n", nil, "more_darwin.go:5:19: undefined: syscall.PTRACE_ATTACH"},
		"only on this one":  {"more_linux.go", "package sound\n\nconst _ = missing\n", nil, ""},
		"inside a function": {"more.go", "package sound\n\nfunc f() int { return \"\" }\n", nil, `more.go:3:23: cannot use "" (untyped string constant) as int value in return statement`},
		"a test":            {"more_test.go", "package sound\n\nconst _ = missing\n", nil, "more_test.go:3:11: undefined: missing"},
		"a test outside":    {"more_test.go", "package sound_test\n\nconst _ = missing\n", nil, "more_test.go:3:11: undefined: missing"},
		"syntax":            {"more.go", "package sound\n\nfunc\n", nil, "more.go:3:6: expected 'IDENT', found 'EOF'"},
		"an import":         {"more.go", "package sound\n\nimport _ \"example.com/missing\"\n", nil, "no required module provides package example.com/missing"},
		"without the tag":   {"more.go", "//go:build special\n\npackage sound\n\nconst _ = missing\n", nil, ""},
		"with the tag":      {"more.go", "//go:build special\n\npackage sound\n\nconst _ = missing\n", []string{"--tags=special"}, "more.go:5:11: undefined: missing"},
		"another go.mod":    {"other.mod", "module example.com/other\n\ngo 1.26.0\n", []string{"--modfile=other.mod"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			module := t.TempDir()
			files := maps.Clone(sound)
			if test.file != "" {
				files[test.file] = test.text
			}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(module, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), slices.Concat([]string{"--os=darwin", "--module=" + module}, test.flags, []string{"./..."}), &stdout, &stderr)
			if test.want == "" {
				if code != 0 || stderr.Len() > 0 || !strings.Contains(stdout.String(), "for darwin: 1 packages") {
					t.Errorf("got exit %d, %q, %q, want that all is well", code, stdout.String(), stderr.String())
				}
				return
			}
			if code != 1 || strings.Count(stderr.String(), test.want) != 1 {
				t.Errorf("got exit %d and %q, want 1 and once %q", code, stderr.String(), test.want)
			}
		})
	}
}

func TestBadArgumentsAreNamed(t *testing.T) {
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "go.mod"), []byte(sound["go.mod"]), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no packages":       {nil, exitUsage, "the packages are missing, such as ./..."},
		"bad flag":          {[]string{"--goos=darwin", "./..."}, exitUsage, "flag provided but not defined: -goos"},
		"no system":         {[]string{"--os=amiga", "./..."}, 1, "amiga"},
		"no module":         {[]string{"--module=missing", "./..."}, 1, "missing"},
		"nothing there":     {[]string{"--module=" + empty, "./..."}, 1, "./... matches no package"},
		"no packages found": {[]string{"./missing/..."}, 1, "pattern ./missing/..."},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), test.args, &stdout, &stderr); code != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("got exit %d and %q, want %d and %q", code, stderr.String(), test.code, test.want)
			}
		})
	}
}
