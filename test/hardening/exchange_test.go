//go:build nightly && peers

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// ourModule is the path of this module.
const ourModule = "github.com/mallard-dev/mallard"

// The files of the package that has the constructor, in the other module.
const (
	exchanged   = "pkg/reconciler/exchanged"
	constructor = exchanged + "/controller.go"
	rest        = exchanged + "/reconciler.go"
)

// exchange compiles a constructor in another module, to which files are added for this command only.
type exchange struct {
	// module is the folder of the module.
	module string
	// imports replaces import paths.
	imports *strings.Replacer
	// files are the contents of the files that are added, by their paths in the module.
	files map[string]string
}

// TestPeers_SampleConstructor_LacksTheClassOnly compiles the constructor of the sample-controller in this module, where the generated NewImpl has the class as a
// parameter.
func TestPeers_SampleConstructor_LacksTheClassOnly(t *testing.T) {
	ours, theirs := modules(t)
	e := exchange{ours, strings.NewReplacer(sample.module, ourModule, "v1alpha1", "v1"), map[string]string{}}
	e.add(t, constructor, filepath.Join(theirs, "pkg/reconciler/addressableservice/controller.go"))
	e.add(t, rest, "testdata/exchange/theirs.go")
	e.compile(t, "not enough arguments in call to addressableservicereconciler.NewImpl")
	e.files[constructor] = strings.Replace(e.files[constructor], "NewImpl(ctx, r)", `NewImpl(ctx, r, "mallard")`, 1)
	e.compile(t)
}

// TestPeers_OurConstructor_LacksConfigurationAndClassOnly compiles our constructor in the sample-controller, which has v1alpha1 only.
func TestPeers_OurConstructor_LacksConfigurationAndClassOnly(t *testing.T) {
	ours, theirs := modules(t)
	e := exchange{theirs, strings.NewReplacer(ourModule+"/pkg/apis/samples/v1", sample.module+"/pkg/apis/samples/v1alpha1", ourModule, sample.module,
		"/samples/v1/", "/samples/v1alpha1/", `/samples/v1"`, `/samples/v1alpha1"`, "SamplesV1", "SamplesV1alpha1"), map[string]string{}}
	e.add(t, constructor, filepath.Join(ours, "pkg/reconciler/addressableservice/controller.go"))
	e.add(t, rest, "testdata/exchange/ours.go")
	e.compile(t, "no required module provides package "+sample.module+"/pkg/apis/config; to add it:")
	e.add(t, "pkg/apis/config/config.go", "testdata/exchange/config.go")
	e.compile(t, "undefined: samples.ClassAnnotationKey", "undefined: samples.ClassMallard", "undefined: samples.FinalizerName")
	e.add(t, "pkg/apis/samples/addressableservice.go", filepath.Join(ours, "pkg/apis/samples/addressableservice.go"))
	e.compile(t, `cannot use samples.ClassMallard (untyped string constant "mallard") as controller.OptionsFn value in argument to addressableservicereconciler.NewImpl`)
	e.files[constructor] = strings.Replace(e.files[constructor], "NewImpl(ctx, r, samples.ClassMallard, ", "NewImpl(ctx, r, ", 1)
	e.compile(t)
}

// modules returns the folders of this module and of the sample-controller.
func modules(t *testing.T) (ours, theirs string) {
	t.Helper()
	ours, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	return ours, sample.source(t, ours)
}

// add adds a file with other import paths.
func (e exchange) add(t *testing.T, path, from string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	e.files[path] = e.imports.Replace(string(content))
}

// message matches an error of the compiler.
var message = regexp.MustCompile(`(?m)\.go:\d+:\d+: (.*)$`)

// compile fails unless the compiler reports exactly these errors.
func (e exchange) compile(t *testing.T, want ...string) {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for n, path := range slices.Sorted(maps.Keys(e.files)) {
		file := filepath.Join(dir, strconv.Itoa(n)+".go")
		if err := os.WriteFile(file, []byte(e.files[path]), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(e.module, path)] = file
	}
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", overlay, "./"+exchanged)
	cmd.Dir, cmd.Env = e.module, append(os.Environ(), "PWD="+e.module)
	out, err := cmd.CombinedOutput()
	var got []string
	for _, found := range message.FindAllStringSubmatch(string(out), -1) {
		got = append(got, found[1])
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" || (err == nil) != (len(want) == 0) {
		t.Errorf("compiling the constructor in %s: %v, errors (-want +got):\n%s\n%s", e.module, err, diff, out)
	}
}
