/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

const (
	// packagesVariable and seedVariable are environment variables with the number of random APIs, and with the seed that they are made from.
	packagesVariable, seedVariable = "ASSIGN_GEN_PACKAGES", "ASSIGN_GEN_SEED"
	fewPackages                    = 50
)

// The code that assign-gen writes for random types compiles, and it rejects none of them.
func TestRun_RandomTypes_Compile(t *testing.T) {
	project(t)
	expectRandom(t, fewPackages)
}

// expectRandom makes random APIs, and expects that code is generated for each of them and that its types are right. It returns those that were not
// rejected.
func expectRandom(t *testing.T, count int) (*checker, []*randomAPI) {
	t.Helper()
	count, seed := numberOr(t, packagesVariable, count), int64(numberOr(t, seedVariable, int(time.Now().UnixNano()%1e9)))
	t.Logf("to repeat this: %s=%d %s=%d", seedVariable, seed, packagesVariable, count)
	random := rand.New(rand.NewSource(seed)) // a test that can be repeated
	apis := make([]*randomAPI, count)
	for i := range apis {
		apis[i] = makeAPI(random)
	}
	c := newChecker(t)
	for i, err := range c.check(apis...) {
		if err == nil {
			continue
		}
		fault := firstLine(err)
		small := apis[i].shrunk(func(all ...*randomAPI) []bool {
			faulty := make([]bool, len(all))
			for i, err := range c.check(all...) {
				faulty[i] = err != nil && firstLine(err) == fault
			}
			return faulty
		})
		t.Fatalf("API %d: %v\nv1beta1 and v1 of a smaller one:\n%s\n%s", i, err, source("v1beta1", small.older), source("v1", small.newer))
	}
	accepted := slices.DeleteFunc(apis, func(api *randomAPI) bool { return c.rejected[api] })
	t.Logf("%d of %d APIs have no code: a struct with markers is in one version only", count-len(accepted), count)
	if len(accepted) < count/2 {
		t.Error("most APIs show nothing")
	}
	return c, accepted
}

func numberOr(t *testing.T, variable string, standard int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return standard
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return number
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	_, message, _ := strings.Cut(line, ": ") // without the position
	return message[:min(len(message), len("E00"))]
}

func folder(i int) string { return fmt.Sprintf("random%d", i) }

// checker generates code for APIs and checks its types, without writing it or calling the compiler.
type checker struct {
	t *testing.T
	// imported are the packages that generated code imports.
	imported map[string]*types.Package
	// rejected are the APIs of which a struct with markers is in one version only.
	rejected map[*randomAPI]bool
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	write(t, "imports.go", `package project

import (
	_ "context"
	_ "encoding/json"
	_ "fmt"
	_ "maps"
	_ "testing"
	_ "time"

	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "knative.dev/pkg/apis"
	_ "sigs.k8s.io/randfill"

	_ "github.com/mallard-dev/mallard/conversion"
	_ "github.com/mallard-dev/mallard/conversion/conversiontest"
	_ "github.com/mallard-dev/mallard/conversion/knative"
)
`)
	loaded, err := packages.Load(&packages.Config{
		Mode:      packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedFiles,
		ParseFile: parseDeclarations,
	}, ".")
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{t: t, imported: make(map[string]*types.Package), rejected: make(map[*randomAPI]bool)}
	packages.Visit(loaded, nil, func(each *packages.Package) { c.imported[each.PkgPath] = each.Types })
	return c
}

// write writes the types of APIs.
func (c *checker) write(apis []*randomAPI) {
	for i, api := range apis {
		doc := "// +conversion-gen:next=" + path.Join(projectModule, folder(i), "v1") + "\n// +conversion-gen:positional\npackage v1beta1\n"
		write(c.t, filepath.Join(folder(i), "v1beta1", "doc.go"), doc)
		write(c.t, filepath.Join(folder(i), "v1beta1", "types.go"), source("v1beta1", api.older))
		doc = "// +conversion-gen:hub\n// +conversion-gen:annotation=conversion.example.com/properties\n// +conversion-gen:positional\npackage v1\n"
		write(c.t, filepath.Join(folder(i), "v1", "doc.go"), doc)
		write(c.t, filepath.Join(folder(i), "v1", "types.go"), source("v1", api.newer))
	}
}

// check returns an error for each API: of the generator, or of the types of the code that it writes.
func (c *checker) check(apis ...*randomAPI) []error {
	c.write(apis)
	var patterns []string
	for i := range apis {
		patterns = append(patterns, "./"+folder(i)+"/v1beta1", "./"+folder(i)+"/v1")
	}
	loaded, err := Load(patterns)
	if err != nil {
		c.t.Fatal(err)
	}
	errs := make([]error, len(apis))
	for _, versions := range loaded {
		var at int
		if _, err := fmt.Sscanf(path.Base(path.Dir(versions[0].Path)), "random%d", &at); err != nil {
			c.t.Fatal(err)
		}
		if err := c.generated(versions); errors.Is(err, errOneVersion) {
			c.rejected[apis[at]] = true
		} else {
			errs[at] = err
		}
	}
	return errs
}

func (c *checker) generated(versions []*model.Package) error {
	o, err := newOutput(args.New(), versions, generators.Layout{MaxLines: generators.MaxLines})
	if err != nil {
		if isAboutOneVersion(err) {
			return errOneVersion
		}
		return err
	}
	files, err := generators.Files(o.plan, o.layout)
	if err != nil {
		return fmt.Errorf("generated code: %w", err)
	}
	// In the order in which they import each other.
	hub, older := o.plan.Hub, o.plan.Versions[0]
	for _, each := range []struct{ path, dir string }{
		{hub.StoragePath(), filepath.Join(hub.Package.Dir, "storage")},
		{older.StoragePath(), filepath.Join(older.Package.Dir, "storage")},
		{hub.Package.Path, hub.Package.Dir},
		{older.Package.Path, older.Package.Dir},
		{o.layout.RoundTripPackage, o.layout.RoundTripDir},
	} {
		if err := c.checkPackage(each.path, each.dir, files); err != nil {
			return fmt.Errorf("generated code: %w", err)
		}
	}
	return nil
}

var errOneVersion = errors.New("a struct with markers is in one version only")

// isAboutOneVersion reports whether all that is wrong is that a struct with markers, or with one above it, is in fields of one version only.
func isAboutOneVersion(err error) bool {
	text := err.Error()
	return strings.Count(text, "where its type has no counterpart")+strings.Count(text, "which no kind there uses") == strings.Count(text, "fix: ")
}

// checkPackage checks the types of a package: of its generated files, and of those in its folder.
func (c *checker) checkPackage(pkg, dir string, generated []generators.File) error {
	positions := token.NewFileSet()
	var files []*ast.File
	parse := func(name string, content any) error {
		file, err := parser.ParseFile(positions, name, content, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	}
	for _, name := range []string{"types.go"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			if err := parse(name, content); err != nil {
				return err
			}
		}
	}
	for _, each := range generated {
		if filepath.Dir(each.Path) == dir {
			if err := parse(filepath.Base(each.Path), each.Content); err != nil {
				return err
			}
		}
	}
	var problems []error
	config := types.Config{Importer: c, Error: func(err error) { problems = append(problems, err) }}
	checked, _ := config.Check(pkg, positions, files, nil) // the errors are in the list
	c.imported[pkg] = checked
	return errors.Join(problems...)
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if found := c.imported[path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s is not loaded", path)
}
