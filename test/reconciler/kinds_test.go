/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module     = "github.com/mallard-dev/mallard/"
	generators = "pkg/client/injection/reconciler"
)

// kinds are the folders of the generated reconcilers below generators, as GROUP/VERSION/KIND.
func kinds(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(root, generators), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "state.go" {
			relative, err := filepath.Rel(filepath.Join(root, generators), filepath.Dir(path))
			found = append(found, filepath.ToSlash(relative))
			return err
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("finding the generated reconcilers: %v (%d)", err, len(found))
	}
	return found
}

// TestKinds_EachReconciler_HasStubs looks at every reconciler that is generated: a type whose marker lacks the option
// has no stubs.
func TestKinds_EachReconciler_HasStubs(t *testing.T) {
	for _, kind := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			stub := filepath.Join(generators, kind, "stub")
			for file, want := range map[string]string{
				"controller.go": `(?s)func NewController\(\s*ctx context\.Context,\s*cmw configmap\.Watcher,\s*\) \*controller\.Impl \{.*\.NewImpl\(ctx, r\b`,
				"reconciler.go": `(?s)var _ \w+\.Interface = \(\*Reconciler\)\(nil\).*\) ReconcileKind\(ctx context\.Context.*// ?func \(r \*Reconciler\) FinalizeKind\(`,
			} {
				content, err := os.ReadFile(filepath.Join(root, stub, file))
				if err != nil {
					t.Errorf("the marker of the type lacks the option stubs: %v", err)
				} else if !regexp.MustCompile(want).Match(content) {
					t.Errorf("%s/%s is not what it is to begin with", stub, file)
				}
			}
			build := exec.CommandContext(t.Context(), "go", "build", "./"+stub)
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("the stubs do not compile: %v\n%s", err, out)
			}
		})
	}
}

// TestKinds_EachReconciler_HasAControllerTestOnFakes looks, in the package of each reconciler, for a test that calls
// NewController in a context of injection.Fake, with every informer that the controller uses linked by its fake, which
// links the fake of its client.
func TestKinds_EachReconciler_HasAControllerTestOnFakes(t *testing.T) {
	seen := 0
	for _, kind := range kinds(t) {
		folder := reconcilerOf(t, kind)
		if folder == "" {
			continue
		}
		seen++
		t.Run(kind, func(t *testing.T) {
			code, tests := parse(t, folder)
			if !calls(tests, "NewController") || !calls(tests, "SetupFakeContext") && !calls(tests, "SetupFakeContextWithCancel") && !calls(tests, "SetupInformers") {
				t.Errorf("no test of %s calls NewController in a context of fakes", folder)
			}
			linked := imports(tests)
			accessors := 0
			for _, path := range imports(code) {
				if !isAccessor(path) {
					continue
				}
				accessors++
				if fake := path + "/fake"; !slices.Contains(linked, fake) {
					t.Errorf("the tests of %s do not link %s", folder, fake)
				}
			}
			if accessors == 0 {
				t.Errorf("%s uses no informer", folder)
			}
		})
	}
	if seen == 0 {
		t.Error("no kind has a reconciler")
	}
}

// isAccessor reports whether a package returns an object that injection made.
func isAccessor(path string) bool {
	_, below, _ := strings.Cut(path, "/injection/")
	return strings.Contains(below, "informers/") || strings.HasPrefix(below, "clients/") || strings.HasPrefix(below, "ducks/")
}

// reconcilerOf is the folder whose code calls the generated NewImpl of a kind; empty if none does.
func reconcilerOf(t *testing.T, kind string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "pkg/reconciler"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		folder := "pkg/reconciler/" + entry.Name()
		code, _ := parse(t, folder)
		if slices.Contains(imports(code), module+generators+"/"+kind) && calls(code, "NewImpl") {
			return folder
		}
	}
	return ""
}

// parse returns the files of a folder, those of tests apart.
func parse(t *testing.T, folder string) (code, tests []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			tests = append(tests, file)
		} else {
			code = append(code, file)
		}
	}
	return code, tests
}

func imports(files []*ast.File) []string {
	var paths []string
	for _, file := range files {
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// calls reports whether a function of that name is called, of whatever package.
func calls(files []*ast.File, name string) bool {
	found := false
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch function := call.Fun.(type) {
			case *ast.Ident:
				found = found || function.Name == name
			case *ast.SelectorExpr:
				found = found || function.Sel.Name == name
			}
			return true
		})
	}
	return found
}
