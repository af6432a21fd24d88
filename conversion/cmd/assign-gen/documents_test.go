/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/record"
)

const (
	reference = "../../../docs/reference/assign-gen.md"
	tutorial  = "../../../docs/tutorial/second-version.md"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// all returns the matches of the first group of a pattern in a file, each once.
func all(t *testing.T, path, pattern string) []string {
	t.Helper()
	var found []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, path), -1) {
		found = append(found, match[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// expectSame reports what only one of two lists has.
func expectSame(t *testing.T, what string, there, documented []string) {
	t.Helper()
	if len(there) == 0 {
		t.Fatalf("no %s was found", what)
	}
	for _, each := range there {
		if !slices.Contains(documented, each) {
			t.Errorf("%s lacks the %s %s", reference, what, each)
		}
	}
	for _, each := range documented {
		if !slices.Contains(there, each) {
			t.Errorf("%s has the %s %s, which does not exist", reference, what, each)
		}
	}
}

func TestDocuments_Flags_AreAllDocumented(t *testing.T) {
	flags := pflag.NewFlagSet("assign-gen", pflag.ContinueOnError)
	args.New().AddFlags(flags)
	var there []string
	flags.VisitAll(func(flag *pflag.Flag) {
		there = append(there, flag.Name)
		defaults := "| |"
		if flag.DefValue != "" && flag.DefValue != "[]" {
			defaults = "| `" + flag.DefValue + "` |"
		}
		row := lineWith(read(t, reference), "| `--"+flag.Name+"`")
		if !strings.Contains(row, defaults) {
			t.Errorf("%s says of --%s: %q, its default is %q", reference, flag.Name, row, flag.DefValue)
		}
		if flag.Shorthand != "" && !strings.Contains(row, "`-"+flag.Shorthand+"`") {
			t.Errorf("the shorthand -%s of --%s is not documented", flag.Shorthand, flag.Name)
		}
	})
	expectSame(t, "flag", there, all(t, reference, `[^-\w]--([a-z][a-z-]*)`))
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

func TestDocuments_Markers_AreAllDocumented(t *testing.T) {
	there := all(t, "markers/definitions.go", `\{"(conversion[a-z-]*:[a-z]+)", on`)
	expectSame(t, "marker", there, all(t, reference, `\+(conversion[a-z-]*:[a-z]+)`))
	for _, marker := range all(t, tutorial, `\+(conversion[a-z-]*:[a-z]+)`) {
		if !slices.Contains(there, marker) {
			t.Errorf("%s has the marker %s, which does not exist", tutorial, marker)
		}
	}
}

// Each code has a chapter, with a message that the tests of package generate compare with what is reported.
func TestDocuments_Problems_AreAllDocumented(t *testing.T) {
	codes := all(t, "problem/problem.go", `Code = "(E\d\d)"`)
	expectSame(t, "code", codes, all(t, reference, `(?m)^### (E\d\d)$`))
	for _, code := range codes {
		chapter := regexp.MustCompile("(?s)\n### " + code + "\n.*?\n(```text file=conversion/cmd/assign-gen/generate/testdata/problems/" +
			strings.ToLower(code) + `\w*/want.txt` + "\n[^\n]+: " + code + " .*?\n    fix: )").FindString(read(t, reference))
		if strings.Count(chapter, "\n### ") != 1 {
			t.Errorf("%s shows no message of %s", reference, code)
		}
	}
}

func TestDocuments_GeneratedFiles_AreAllDocumented(t *testing.T) {
	there := append(all(t, "generators/targets.go", `"(zz_generated[\w.]+)"`), record.ReportFile, record.LockFile)
	expectSame(t, "file", there, all(t, reference, `(zz_generated[\w.-]+\w|conversion\.lock)`))
}
