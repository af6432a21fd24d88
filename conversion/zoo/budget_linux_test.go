/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// root is the folder of the repository, whose own API is the sample.
const root = "../.."

// The budgets are times of the CPU, including those of child processes, because a busy machine changes these less than the time that passes.
const (
	mostOfSample = 3 * time.Second
	// mostOfLargest is for the generator, and mostOfTests for the compiled tests, of the APIs with the most kinds, versions and generated code.
	mostOfLargest = 8 * time.Second
	mostOfTests   = 15 * time.Second
)

func TestBudget_Sample_GeneratorIsWithin(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, "pkg/apis/samples")); err != nil {
		return // a fork has other APIs
	}
	p := &Project{dir: t.TempDir(), flags: goFlags}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "go.mod", relativePath.ReplaceAllFunc(read(t, filepath.Join(root, "go.mod")), func(match []byte) []byte {
		return []byte("=> " + strconv.Quote(filepath.Join(absolute, strings.TrimPrefix(string(match), "=> "))))
	}))
	p.write(t, "go.sum", read(t, filepath.Join(root, "go.sum")))
	if err := os.CopyFS(filepath.Join(p.dir, "pkg/apis"), os.DirFS(filepath.Join(root, "pkg/apis"))); err != nil {
		t.Fatal(err)
	}
	const versions = "./pkg/apis/samples/v1alpha1,./pkg/apis/samples/v1beta1,./pkg/apis/samples/v1"
	expectWithin(t, "generator", mostOfSample, p.generating(t, versions))
}

func TestBudget_LargestAPIs_GeneratorAndTestsAreWithin(t *testing.T) {
	// The tests of the others take less than a third of it.
	for _, name := range []string{"clusterapi", "customresourcedefinition", "flowcontrol", "gateway", "kueue", "resource", "tekton"} {
		t.Run(name, func(t *testing.T) {
			p := assembled(t, load(t, filepath.Join("testdata", name)))
			expectWithin(t, "generator", mostOfLargest, p.generating(t, p.Versions()))
			var testing usage
			for _, test := range builtTests(t, p) {
				testing.run(t, test)
			}
			expectWithin(t, "generated tests", mostOfTests, testing)
		})
	}
}

// generating runs assign-gen, once the packages that it reads are compiled.
func (p *Project) generating(t *testing.T, versions string) (used usage) {
	t.Helper()
	command := func() *exec.Cmd { return p.Command(t.Context(), builtGenerator(t), "--input-dirs", versions) }
	new(usage).run(t, command())
	used.run(t, command())
	return used
}

func expectWithin(t *testing.T, name string, most time.Duration, used usage) {
	t.Helper()
	t.Logf("%s: %s of CPU, %.0f MB", name, used.cpu, used.memory)
	if used.cpu > most {
		t.Errorf("%s: %s of CPU, want at most %s", name, used.cpu, most)
	}
}
