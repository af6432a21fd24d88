/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"go/parser"
	"go/token"
	"maps"
	slashpath "path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRename_EveryForm_GetsTheFormOfTheName(t *testing.T) {
	a := Arguments{Module: "example.com/a/green-pond2", Group: "green-pond.acme.io", Name: "Green-Pond2", Namespace: "green"}
	for old, want := range map[string]string{
		`"github.com/mallard-dev/mallard/pkg/apis/samples/v1"`: `"example.com/a/green-pond2/pkg/apis/greenpond/v1"`,
		"github.com/mallard-dev/mallard/conversion":            "github.com/mallard-dev/mallard/conversion",
		"github.com/mallard-dev/mallard/hack/tools/ko":         "example.com/a/green-pond2/hack/tools/ko",
		"samples.ClassMallard":                                 "greenpond.ClassGreenPond2",
		"w.samples.SamplesV1()":                                "w.samples.GreenPondV1()",
		"the samples. Each":                                    "the samples. Each",
		"addressableservices.samples.knative.dev":              "addressableservices.green-pond.acme.io",
		"/apis/samples.knative.dev/v1/":                        "/apis/green-pond.acme.io/v1/",
		`samples\.knative\.dev/class`:                          `green-pond\.acme\.io/class`,
		"// +groupName=samples.knative.dev\n":                  "// +groupName=green-pond.acme.io\n// +groupGoName=GreenPond\n",
		"knative-samples-directory":                            "green-directory",
		"MALLARD_TEST_INPUTS":                                  "MALLARD_TEST_INPUTS",
		"mallard-controller":                                   "green-pond2-controller",
		"MallardQueueStuck":                                    "GreenPond2QueueStuck",
		"Mallard's":                                            "Green-Pond2's",
		"leader.mallard.dev/wanted-by":                         "leader.green-pond.acme.io/wanted-by",
		"Copyright 2026 The Mallard Authors.":                  "Copyright 2026 The Mallard Authors.",
		"knative.dev/pkg":                                      "knative.dev/pkg",
	} {
		if got := newNames(a, nil).rename(old); got != want {
			t.Errorf("%q becomes %q, want %q", old, got, want)
		}
	}
}

// nameInCode matches the name of the template outside of comments and strings of one line.
var nameInCode = regexp.MustCompile("(?m)^[^/\"`\n]*\\bmallard\\b")

// nameOfAVariable matches a variable that has the name of the API's package, so that make fork would rename its uses.
var nameOfAVariable = regexp.MustCompile("(?m)^[^/\"`\n]*\\bsamples\\b[\\w, ]*:=(?:.*\n)*.*[^.]\\bsamples\\.[A-Z]")

// A name with a dash is no identifier.
func TestRename_EveryGoFile_Parses(t *testing.T) {
	all, err := committed(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	n := newNames(Arguments{Module: "example.com/a/green-pond2", Group: "green-pond.acme.io", Name: "Green-Pond2", Namespace: "green"}, all)
	for path, f := range all {
		if strings.HasSuffix(path, ".go") && nameOfAVariable.Match(f.content) {
			t.Errorf("%s: call the variable samples otherwise", path)
		}
		if !strings.HasSuffix(path, ".go") || !nameInCode.Match(f.content) {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), path, n.rename(string(f.content)), parser.SkipObjectResolution); err != nil {
			t.Error(err)
		}
	}
}

func TestRename_NamesWithOldNames_AreRenamedOnce(t *testing.T) {
	a := Arguments{
		Module: "github.com/mallard-dev/mallard-pond", Group: "samples.knative.dev.acme.io", Name: "Mallard-Pond", Namespace: "knative-samples-pond",
		Eject: []string{"hardening"},
	}
	n := newNames(a, nil)
	for old, want := range map[string]string{
		"github.com/mallard-dev/mallard/pkg":         "github.com/mallard-dev/mallard-pond/pkg",
		"github.com/mallard-dev/mallard/conversion/": "github.com/mallard-dev/mallard/conversion/",
		"github.com/mallard-dev/mallard/hardening":   "github.com/mallard-dev/mallard-pond/hardening",
		"a.samples.knative.dev":                      "a.samples.knative.dev.acme.io",
		"knative-samples":                            "knative-samples-pond",
		"Mallard":                                    "Mallard-Pond",
		"pkg/apis/samples/v1":                        "pkg/apis/samples/v1",
	} {
		if got := n.rename(old); got != want {
			t.Errorf("%q becomes %q, want %q", old, got, want)
		}
	}
}

func TestNewNames_GroupThatIsAWordOfTheCode_GetsAnotherPackage(t *testing.T) {
	files := tree{"a.go": {content: []byte("package a // samples\nvar events int")}}
	for group, want := range map[string]string{"events.acme.io": "eventsapis", "pond.acme.io": "pond", "func.acme.io": "funcapis", "a-b.acme.io": "ab"} {
		if got := newNames(Arguments{Group: group}, files).apiPackage; got != want {
			t.Errorf("the package of %s is %s, want %s", group, got, want)
		}
	}
}

// pageOfATest matches the path of a document that a test reads.
var pageOfATest = regexp.MustCompile(`"(?:\.\./)+(docs/[\w./-]+\.\w+)"`)

// Every file and every line that a fork leaves out exists in the template.
func TestReduce_EveryCombination_FindsItsFilesAndLines(t *testing.T) {
	all, err := committed(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	combinations := []Arguments{
		{Kinds: kinds()},
		{Kinds: kinds()[:1]},
		{Kinds: kinds()[:2]},
		{Kinds: []string{kinds()[0], kinds()[2]}},
		{Kinds: kinds()[2:]},
		{Kinds: kinds(), Versions: []string{onlyVersion}},
		{Kinds: kinds()[:1], Versions: []string{onlyVersion}, Without: products()},
		{Kinds: kinds()[2:], Without: products(), Eject: slices.Sorted(maps.Keys(ejectable))},
	}
	for _, product := range products() {
		combinations = append(combinations, Arguments{Kinds: kinds(), Without: []string{product}})
	}
	for _, a := range combinations {
		t.Run(strings.Join(a.missing(), ","), func(t *testing.T) {
			files := maps.Clone(all)
			if err := a.reduce(files); err != nil {
				t.Fatal(err)
			}
			for _, kind := range kinds() {
				reconciler := "pkg/reconciler/" + strings.ToLower(kind)
				if _, has := files[reconciler+"/doc.go"]; has != slices.Contains(a.Kinds, kind) {
					t.Errorf("the fork has %s: %v", reconciler, has)
				}
			}
			expectPagesOfTests(t, files)
			a.expectPackages(t, all, files)
		})
	}
}

// ownImport matches an import of a package of the template's main module.
var ownImport = regexp.MustCompile(`(?m)^\t(?:\w+ )?"` + regexp.QuoteMeta(oldModule) + `/((?:cmd|confidential|crud|hack|observe|pkg|test)/[\w./-]+)"$`)

// expectPackages finds imports of packages that the fork neither has nor requires. Generated code is generated again.
func (a Arguments) expectPackages(t *testing.T, all, files tree) {
	t.Helper()
	before, after := packages(all), packages(files)
	for path, f := range files {
		if !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "pkg/client/") || strings.Contains(path, "/zz_generated.") {
			continue
		}
		for _, imported := range ownImport.FindAllSubmatch(f.content, -1) {
			folder := string(imported[1])
			isMade := slices.ContainsFunc(append(a.required(), "pkg/client"), func(module string) bool { return matches(module, folder) })
			if before[folder] && !after[folder] && !isMade {
				t.Errorf("%s imports %s, which the fork lacks", path, folder)
			}
		}
	}
}

// packages returns the folders that hold Go files.
func packages(files tree) map[string]bool {
	folders := make(map[string]bool)
	for path := range files {
		if strings.HasSuffix(path, ".go") {
			folders[slashpath.Dir(path)] = true
		}
	}
	return folders
}

// endsWithoutPage matches tests that end, or leave out a part, if a page is missing.
var endsWithoutPage = regexp.MustCompile(`"\.\./\.\./docs/README\.md"|errors\.Is\(err, fs\.ErrNotExist\)`)

// expectPagesOfTests finds tests that read a page that is missing, unless they expect that.
func expectPagesOfTests(t *testing.T, files tree) {
	t.Helper()
	for path, f := range files {
		if !strings.HasSuffix(path, "_test.go") || endsWithoutPage.Match(f.content) {
			continue
		}
		for _, page := range pageOfATest.FindAllSubmatch(f.content, -1) {
			if _, has := files[string(page[1])]; !has {
				t.Errorf("%s reads %s, which the fork lacks: remove the test, or end it if docs/README.md does not exist", path, page[1])
			}
		}
	}
}
