/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// root is the folder of the repository, whose own API is the sample.
const root = "../.."

// The budgets are times of the CPU, including those of child processes, because a busy machine changes these less than the time that passes. mostOfLargest
// is for the generator, and mostOfTests for the compiled tests, of the APIs with the most kinds, versions and generated code.
const (
	mostOfLargest = 8 * time.Second
	mostOfTests   = 15 * time.Second
)

// TestBudget_Sample_GeneratorNeedsLessThanDeepcopyGen compares the generator with that of Kubernetes for deep copies of the same packages, because any
// time would be a matter of the machine.
func TestBudget_Sample_GeneratorNeedsLessThanDeepcopyGen(t *testing.T) {
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
	versions := []string{"./pkg/apis/samples/v1alpha1", "./pkg/apis/samples/v1beta1", "./pkg/apis/samples/v1"}
	peer := filepath.Join(t.TempDir(), "deepcopy-gen")
	new(usage).run(t, p.Command(t.Context(), "go", "-C", filepath.Join(absolute, "hack/tools"), "build", "-o", peer, "k8s.io/code-generator/cmd/deepcopy-gen"))
	most := p.least(t, peer, append([]string{"--output-file", "zz_generated.deepcopy.go"}, versions...)...)
	expectWithin(t, "generator", most.cpu, p.generating(t, strings.Join(versions, ",")))
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

// generating runs assign-gen.
func (p *Project) generating(t *testing.T, versions string) usage {
	t.Helper()
	return p.least(t, builtGenerator(t), "--input-dirs", versions)
}

// least runs a generator several times, and returns the least usage: packages that are not compiled yet, files that the kernel does not have in its
// cache, and other processes only add to a run.
func (p *Project) least(t *testing.T, generator string, args ...string) (least usage) {
	t.Helper()
	for range 4 {
		var used usage
		used.run(t, p.Command(t.Context(), generator, args...))
		if least.cpu == 0 || used.cpu < least.cpu {
			least = used
		}
	}
	return least
}

func expectWithin(t *testing.T, name string, most time.Duration, used usage) {
	t.Helper()
	t.Logf("%s: %s of CPU, %.0f MB", name, used.cpu, used.memory)
	if used.cpu > most {
		t.Errorf("%s: %s of CPU, want at most %s", name, used.cpu, most)
	}
}
