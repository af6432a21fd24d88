/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkout is one with a function that has a test, and one that has none.
var checkout = map[string]string{
	"go.mod":        "module example.com/checkout\n\ngo 1.26\n",
	"sum.go":        "package checkout\n\nfunc sum(a, b int) int {\n\treturn a + b\n}\n\nfunc half(a int) int {\n\treturn a / 2\n}\n\nvar _ = half\n",
	"sum_test.go":   "package checkout\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tt.Run(\"one\", func(t *testing.T) {\n\t\tif sum(1, 1) != 2 {\n\t\t\tt.Error()\n\t\t}\n\t})\n}\n",
	"ignored/x.txt": "x",
	".gitignore":    "ignored\n",
}

// replacing is a patch for a line of sum.go.
func replacing(old, replacement string) string {
	var hunk strings.Builder
	lines := 0
	for line := range strings.Lines(checkout["sum.go"]) {
		lines++
		if line == old+"\n" {
			hunk.WriteString("-" + line + "+" + replacement + "\n")
		} else {
			hunk.WriteString(" " + line)
		}
	}
	return fmt.Sprintf("breaks: something\ntests: .\n\ndiff --git a/sum.go b/sum.go\n--- a/sum.go\n+++ b/sum.go\n@@ -1,%d +1,%[1]d @@\n%s", lines, hunk.String())
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// newCheckout makes a checkout and a folder of patches.
func newCheckout(t *testing.T, patches map[string]string) (folder, patchFolder string) {
	t.Helper()
	folder, patchFolder = t.TempDir(), t.TempDir()
	write(t, folder, checkout)
	write(t, patchFolder, patches)
	if output, err := exec.CommandContext(t.Context(), "git", "-C", folder, "init").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return folder, patchFolder
}

func TestWhatBecomesOfMutants(t *testing.T) {
	const sum, half = "\treturn a + b", "\treturn a / 2"
	folder, patches := newCheckout(t, map[string]string{
		"1-found.patch":   replacing(sum, "\treturn a - b"),
		"2-unseen.patch":  replacing(half, "\treturn a / 3"),
		"3-broken.patch":  replacing(sum, "\treturn a + c"),
		"4-rotten.patch":  strings.Replace(replacing(sum, "\treturn a - b"), "-"+sum, "-\treturn b + a", 1),
		"5-another.patch": replacing(sum, "\treturn b + b + a"),
	})
	var out bytes.Buffer
	err := run(t.Context(), folder, patches, nil, &out)
	if want := "3 of 5 mutants were not killed"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	_, table, _ := strings.Cut(out.String(), "MUTANT")
	for _, want := range [][]string{
		{"found", "killed", "TestSum/one", "something"},
		{"unseen", "survived", "something"},
		{"broken", "does not compile", "something"},
		{"rotten", "does not apply", "something"},
		{"another", "killed", "TestSum/one", "something"},
	} {
		if line := strings.Join(want, " "); !strings.Contains(strings.Join(strings.Fields(table), " "), line) {
			t.Errorf("the table lacks %q:\n%s", line, out.String())
		}
	}
	if content, err := os.ReadFile(filepath.Join(folder, "sum.go")); err != nil || string(content) != checkout["sum.go"] {
		t.Errorf("the checkout was changed: %v", err)
	}
}

// With tests that fail anyway, every mutant would seem to be found.
func TestTestsHaveToPassWithoutMutant(t *testing.T) {
	folder, patches := newCheckout(t, map[string]string{"1-found.patch": replacing("\treturn a + b", "\treturn a - b")})
	write(t, folder, map[string]string{"sum.go": strings.Replace(checkout["sum.go"], "a + b", "a * b", 1)})
	err := run(t.Context(), folder, patches, nil, &bytes.Buffer{})
	if want := "the tests have to pass without a mutant, but: killed: TestSum/one"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestMutantThatIsWrittenWrong(t *testing.T) {
	right := replacing("\treturn a + b", "\treturn a - b")
	for name, test := range map[string]struct {
		file, content string
		names         []string
		want          string
	}{
		"no number":     {"found.patch", right, nil, "the name must be a number, a hyphen and a name"},
		"no patch":      {"1-found.patch", "breaks: something\ntests: .\n", nil, "there must be a patch as git diff writes it"},
		"no tests":      {"1-found.patch", strings.Replace(right, "tests: .\n", "", 1), nil, "there must be a line with breaks: and one with tests:"},
		"another field": {"1-found.patch", "kills: x\n" + right, nil, `there must be breaks, tests or generate instead of "kills"`},
		"another name":  {"1-found.patch", right, []string{"lost"}, `there is no mutant "lost"; there are found`},
		"nothing":       {"1-found.txt", right, nil, "there is no patch"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, patches := newCheckout(t, map[string]string{test.file: test.content})
			if err := run(t.Context(), folder, patches, test.names, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}
