/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	// Packages in testdata, which go mod tidy leaves out, import these.
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/apimachinery/pkg/util/sets"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// update has the tests write what they got as what they want.
var update = flag.Bool("update", false, "write what is reported to testdata/problems")

const problemsDir = "testdata/problems"

// problemPackages reads the packages of all cases at once, since what they import takes most of the time.
var problemPackages = sync.OnceValues(func() (map[string][]*model.Package, error) {
	patterns, err := filepath.Glob(filepath.Join(problemsDir, "*", "*", "doc.go"))
	if err != nil {
		return nil, err
	}
	for i, pattern := range patterns {
		patterns[i] = "./" + filepath.Dir(pattern)
	}
	apis, err := Load(patterns)
	cases := make(map[string][]*model.Package)
	for _, packages := range apis {
		cases[filepath.Base(filepath.Dir(packages[0].Dir))] = packages
	}
	return cases, err
})

// A message describes the whole problem, with the names and types of both fields and the remedies, and equals the golden file.
func TestProblems_Case_MessageEqualsTheGoldenFile(t *testing.T) {
	cases, err := problemPackages()
	if err != nil {
		t.Fatal(err)
	}
	for name, packages := range cases {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(problemsDir, name)
			_, err := newOutput(args.New(), packages, generators.Layout{})
			if err == nil {
				t.Fatal("nothing is wrong")
			}
			golden := filepath.Join(folder, "want.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
				t.Error("(-want +got):", diff)
			}
		})
	}
}

// Editors and people find the place to change first, what is wrong second, and the fix third.
func TestProblems_Messages_BeginWithPositionAndFitTheScreen(t *testing.T) {
	first := regexp.MustCompile(`^testdata/problems/\S+\.(go|lock):\d+: E\d\d \S`)
	wants, err := filepath.Glob(filepath.Join(problemsDir, "*", "want.txt"))
	if err != nil || len(wants) == 0 {
		t.Fatal("no cases:", err)
	}
	for _, want := range wants {
		lines := strings.Split(strings.TrimSuffix(read(t, want), "\n"), "\n")
		for i, line := range lines {
			if utf8.RuneCountInString(line) > 160 {
				t.Errorf("%s:%d has more than 160 columns: %s", want, i+1, line)
			}
			switch {
			case strings.HasPrefix(line, "        "): // continues the line above
			case strings.HasPrefix(line, "    fix: "):
				if i == 0 || strings.HasPrefix(lines[i-1], "    fix: ") {
					t.Errorf("%s:%d is a fix of nothing: %s", want, i+1, line)
				}
			case !first.MatchString(line):
				t.Errorf("%s:%d is no position, code and name: %s", want, i+1, line)
			}
		}
	}
}

func TestLoad_PrintsNothing(t *testing.T) {
	printed, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = printed
	_, err = Load([]string{"./testdata/problems/onecause/v1", "./testdata/problems/onecause/v1beta1"})
	os.Stderr = stderr
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, printed.Name()); got != "" {
		t.Errorf("stderr has %q", got)
	}
}

// Each code is shown by a case.
func TestProblems_Codes_EachHasACase(t *testing.T) {
	for code := range map[problem.Code]bool{
		problem.NoConversion: true, problem.NoRenameTarget: true, problem.TwoSources: true, problem.BrokenChain: true, problem.HubCount: true,
		problem.SensitiveStash: true, problem.UnsupportedType: true, problem.BadMarker: true, problem.NoTypeTarget: true,
		problem.EnumNotInvertible: true, problem.LockChanged: true, problem.NameCollision: true, problem.KindMissing: true, problem.NoIdentity: true,
		problem.SameJSON: true,
	} {
		want, err := os.ReadFile(filepath.Join(problemsDir, strings.ToLower(string(code)), "want.txt"))
		if err != nil {
			t.Errorf("%s has no case: %v", code, err)
			continue
		}
		if !strings.Contains(string(want), ": "+string(code)+" ") {
			t.Errorf("the case of %s reports something else: %s", code, want)
		}
	}
}
