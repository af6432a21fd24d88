//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/test/checkout"
)

// mostLines and mostFiles bound the hand-written Go of a fork with one kind, without tests.
const mostLines, mostFiles = 3000, 60

// needsCompilation is a template for go list. A program is always stale, since it is not installed.
const needsCompilation = `{{if and .Stale (ne .StaleReason "not installed but available in build cache")}}{{.ImportPath}}{{end}}`

// A fork that keeps one kind passes its checks and its tests, runs, and installs. It uses the modules of the checkout, and has another license.
func TestFork_SimpleDeployment_IsComplete(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	maps.Copy(variables, map[string]string{
		"KINDS": "SimpleDeployment", "AUTHORS": "Acme Inc", "LICENSE": "MIT", "WITHOUT": "hooks,migrate,observer", "MODULES": template.Dir,
	})
	fork := template.fork(t, variables)
	fork.expectSound(t, variables)
	fork.Run(t, "make", "test")
	fork.expectFewLines(t)
	fork.expectKind(t, template.Read(t, "docs/how-to/fork.md"), "Acme Inc", "MIT")
	fork.Run(t, "go", "list", "-tags", "nightly", "-export", "-test", "./...") // compiles all tests
	fork.expectInstalls(t)
	fork.expectReleases(t)
}

// A clone of a fork needs the module proxy and no checkout of the template. It uses the control plane that the template has built, and would build the
// same one.
func TestFork_Published_NeedsNoCheckout(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	version, environment := template.publish(t)
	template.Environment = environment
	maps.Copy(variables, map[string]string{"KINDS": "AddressableService", "VERSIONS": "v1", "MODULES": version})
	made := template.fork(t, variables)
	fork := repository{checkout.Clone(t, made.Dir)}
	fork.Environment = made.Environment
	if err := errors.Join(os.RemoveAll(template.Dir), os.RemoveAll(made.Dir)); err != nil {
		t.Fatal(err)
	}
	fork.expectSound(t, variables)
	fork.expectFewLines(t)

	shared, own := fork.Output(t, "go", "tool", "localcluster", "build"), fork.withEmptyCaches(t)
	own.expectReady(t)
	if built := own.Output(t, "go", "tool", "localcluster", "build"); built == shared || buildOf(built) != buildOf(shared) {
		t.Errorf("the fork has built %s, want the same as %s in another folder", built, shared)
	}
}

// The modules are raised to a later version, from a checkout or from a version.
func TestUpdate_LaterVersion_IsRequired(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	maps.Copy(variables, map[string]string{"KINDS": "SimpleDeployment", "MODULES": template.Dir})
	fork := template.fork(t, variables)
	for i := range int64(2) {
		template.Write(t, "hardening/later.go", template.Read(t, "hardening/doc.go")+fmt.Sprintf("\n// Later is the number of the version.\nconst Later = %d\n", i))
		template.Commit(t, "Change a module", checkout.Committed+1+i)
		version, environment := template.publish(t)
		fork.Environment = environment
		// The later one is the latest.
		fork.Run(t, "make", "update", "VERSION="+[]string{version, ""}[i])
		for _, path := range []string{"go.mod", "hack/tools/go.mod"} {
			if gomod := fork.Read(t, path); strings.Contains(gomod, template.Dir) || !strings.Contains(gomod, "mallard "+version) {
				t.Errorf("%s does not require version %s alone:\n%s", path, version, gomod)
			}
		}
		fork.Run(t, "make", "verify", "ARGS=modules codegen licenses")
		fork.Run(t, "go", "build", "./...")
		fork.Run(t, "make", "test", "PARTS=units", "ARGS=-short")
	}
}

// A module that is copied is the fork's, which tests it.
func TestFork_Ejected_BuildsWithItsCopy(t *testing.T) {
	fork := ejected(t, "conversion,hardening,observe", "./cmd/controller", "hardening")
	fork.Run(t, "make", "test", "PARTS=modules", "ARGS=-short")
}

// The tests of the control plane take minutes in each fork. Here, the fork builds its copy and runs its operator with it.
func TestFork_EjectedControlPlane_IsBuiltAndRuns(t *testing.T) {
	fork := ejected(t, "crud,localcluster", "./cmd/hooks", "crud")
	fork.withEmptyCaches(t).expectReady(t)
}

// ejected makes a fork that has copies of modules, and expects the program to be built with one of them.
func ejected(t *testing.T, modules, program, module string) repository {
	t.Helper()
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	maps.Copy(variables, map[string]string{"KINDS": "AddressableService", "EJECT": modules, "MODULES": template.Dir})
	fork := template.fork(t, variables)
	fork.expectNoOldNames(t, variables)
	fork.Run(t, "make", "verify", "ARGS=modules format codegen workflows repository")
	fork.Run(t, "go", "vet", "./...")
	if ci := fork.Read(t, ".github/workflows/ci.yaml"); !strings.Contains(ci, ", modules]") {
		t.Errorf("the workflow does not test the copies:\n%s", ci)
	}
	if out := fork.Output(t, "go", "list", "-deps", program); !strings.Contains(out, "\n"+variables["MODULE"]+"/"+module+"\n") {
		t.Errorf("%s is not built with the copy of %s:\n%s", program, module, out)
	}
	return fork
}

// A fork of everything passes the same. Its tests try fewer random inputs than those of the template, which are the same.
func TestFork_AllKinds_IsComplete(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	variables["MODULES"] = template.Dir
	template.fork(t, variables).expectSound(t, variables)
}

// expectSound expects a fork that has no old name and no dead link, passes its checks and its unit tests, and runs. Part forks of make test-nightly runs all tests.
func (r repository) expectSound(t *testing.T, variables map[string]string) {
	t.Helper()
	r.expectNoOldNames(t, variables)
	if kinds := variables["KINDS"]; kinds != "" {
		r.expectReference(t, kinds)
	}
	r.expectChecks(t)
	r.Run(t, "make", "test", "PARTS=units", "ARGS=-short")
	r.expectSharedBuild(t)
}

// expectChecks runs make verify, and the linters that need no types. The others see the same types under other names and take minutes in each fork.
// codegen also shows that the code that make fork renames is what the generators write.
func (r repository) expectChecks(t *testing.T) {
	t.Helper()
	r.Run(t, "make", "verify")
	r.Run(t, "make", "lint", "ARGS=--fast-only")
}

// expectReady runs the fork's operator, until every sample is Ready.
func (r repository) expectReady(t *testing.T) {
	t.Helper()
	if out := r.Run(t, "make", "run", "WAIT=ready"); !strings.Contains(out, "Ready") {
		t.Errorf("make run prints no Ready:\n%s", out)
	}
}

// expectSharedBuild runs the operator on the control plane that the checkout has built, which all forks use. After a change to a reconciler, the go command
// compiles nothing but packages of the fork, and the control plane is still the same.
func (r repository) expectSharedBuild(t *testing.T) {
	t.Helper()
	checkout.Checkout{Dir: root}.Run(t, "go", "tool", "localcluster", "build")
	built := builds(t)
	r.expectReady(t)

	changed := r.Files(t, "pkg/reconciler/*/controller.go")[0]
	before := r.Read(t, changed)
	r.append(t, changed, "\nvar Changed int\n")
	module := strings.TrimSpace(r.Output(t, "go", "list", "-m"))
	stale := strings.Fields(r.Output(t, "bash", "-c", "source hack/modules.sh; go list -tags=grpcnotrace -deps -f '"+needsCompilation+"' ./cmd/..."))
	if !slices.Contains(stale, slashpath.Join(module, slashpath.Dir(changed))) {
		t.Errorf("after a change of %s, only %q have to be compiled", changed, stale)
	}
	for _, path := range stale {
		if !strings.HasPrefix(path, module+"/") {
			t.Errorf("after a change of %s, %s has to be compiled", changed, path)
		}
	}
	r.Run(t, "go", "tool", "localcluster", "build")
	r.Write(t, changed, before)
	if now := builds(t); !slices.Equal(now, built) {
		t.Errorf("the fork has built a control plane: there are %q, and before %q", now, built)
	}
}

// expectFewLines counts the lines and the files of hand-written Go.
func (r repository) expectFewLines(t *testing.T) {
	t.Helper()
	lines, files := 0, 0
	for _, path := range r.Files(t, "*.go") {
		content := r.Read(t, path)
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "test/") || strings.Contains(content, "\n// Code generated ") {
			continue
		}
		lines, files = lines+strings.Count(content, "\n"), files+1
	}
	t.Logf("the fork has %d lines of Go in %d files", lines, files)
	if lines > mostLines || files > mostFiles || files == 0 {
		t.Errorf("the fork has %d lines of hand-written Go in %d files, want at most %d in %d", lines, files, mostLines, mostFiles)
	}
}

// expectKind adds a kind whose state is in a service, and runs its tests. It expects both copyright notices and the template's license in files from the
// template, and the notice and the license of the fork alone in files that the fork adds. The page lists who owns the files that change.
func (r repository) expectKind(t *testing.T, page, authors, license string) {
	t.Helper()
	const template, spdx = "Copyright 2026 The Mallard Authors.\n", "SPDX-License-Identifier: "
	own := "Copyright 2026 " + authors + ".\n"
	if text := r.Read(t, "cmd/controller/main.go"); !strings.HasPrefix(text, "/*\n"+template+own+spdx+"Apache-2.0\n") {
		t.Errorf("a file from the template does not begin with both notices and its license:\n%s", text)
	}
	r.Run(t, "make", "kind", "KIND=Widget", "OWNS=external")
	for path, want := range map[string]string{
		"pkg/reconciler/widget/doc.go": "/*\n" + own + spdx + license, "config/300-widget.yaml": "# " + own + "# " + spdx + license,
	} {
		if text := r.Read(t, path); !strings.HasPrefix(text, want+"\n") {
			t.Errorf("%s does not begin with the notice and the license of the fork alone:\n%s", path, text)
		}
	}
	r.expectOwners(t, page, "widget")
	r.Run(t, "make", "verify", "ARGS=repository")
	r.Run(t, "make", "lint", "ARGS=--fast-only")
	r.Run(t, "bash", "-c", "source hack/modules.sh; go test -vet=off ./pkg/apis/... ./pkg/reconciler/widget ./test/widget")
	r.Run(t, "make", "drop", "KIND=Widget", "FORCE=1")
	if changed := r.Output(t, "git", "status", "--porcelain"); changed != "" {
		t.Errorf("make drop left changes:\n%s", changed)
	}
}

// An interruption ends the generators too, so that none of them writes a file after the fork is removed.
func TestMakeFork_Interrupted_LeavesNothing(t *testing.T) {
	template := newTemplate(t)
	program := filepath.Join(t.TempDir(), "template")
	template.Run(t, "go", "build", "-o", program, "./hack/template")
	for name, tc := range map[string]struct {
		signal    os.Signal
		generator string
		want      string
	}{
		"ByTheTerminal":     {os.Interrupt, "(while :; do mkdir -p a/b; echo >a/b/c; rm -r a; done) & wait", "interrupted in make"},
		"ByAnotherProgram":  {syscall.SIGTERM, "exec sleep 600", "interrupted in make"},
		"ByAGeneratorError": {nil, "echo broken >&2; exit 1", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			bin, parent := t.TempDir(), t.TempDir()
			for name, script := range map[string]string{"make": tc.generator, "go": ""} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := template.Command(t, program, "fork", "MODULE=example.com/pond", "GROUP=pond.acme.io", "NAME=Pond", "NAMESPACE=pond",
				"TO="+filepath.Join(parent, "pond"))
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := interrupt(t, cmd, "make generate ARGS=kinds", tc.signal); err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("it ended with %v, want %q in:\n%s", err, tc.want, out)
			}
			if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
				t.Errorf("%v is left (%v)", entries, err)
			}
		})
	}
}

// interrupt sends a signal, if there is one, to a command after a line of its standard error. It returns all lines and the command's error.
func interrupt(t *testing.T, cmd *exec.Cmd, after string, signal os.Signal) (string, error) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		if strings.HasSuffix(lines.Text(), after) && signal != nil {
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.String(), cmd.Wait()
}
