//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/test/checkout"
)

const (
	root  = "../.."
	guide = "docs/how-to/add-a-kind.md"
)

// shell are the arguments of bash before a line that it runs.
var shell = []string{"-o", "errexit", "-o", "pipefail", "-c"}

// block is a block of commands of the guide, by the name of the test that runs it.
var block = regexp.MustCompile("(?s)```sh shown-by=test/kind:(\\w+)\n(.*?)```")

func TestMakeKind_CommandsOfTheGuide_Work(t *testing.T) {
	copied := newRepository(t)
	content, err := os.ReadFile(filepath.Join(root, guide))
	if err != nil {
		t.Fatal(err)
	}
	output := map[string]string{}
	run := func(command string) { output[command] = copied.run(t, command) }
	for _, commands := range block.FindAllStringSubmatch(string(content), -1) {
		if commands[1] != t.Name() {
			continue
		}
		for command := range strings.Lines(commands[2]) {
			command = strings.TrimSpace(command)
			if strings.HasPrefix(command, "make drop ") {
				copied.checkKinds(t, "{widget,gadget}")
			}
			run(command)
			if command == "make kind KIND=Widget" {
				copied.Commit(t, "Add a kind", checkout.Committed)
			}
		}
	}
	ready := output["make run WAIT=ready"]
	for _, sample := range []string{"widget/hello", "gadget/hello"} {
		if !regexp.MustCompile(sample + `\s+READY=True`).MatchString(ready) {
			t.Errorf("make run does not print that %s is Ready:\n%s", sample, ready)
		}
	}
	copied.expectClean(t, "HEAD")

	// A change that is not committed is not lost.
	const types = "pkg/apis/samples/v1/widget_types.go"
	copied.run(t, "echo '// changed' >>"+types)
	copied.reject(t, "make drop KIND=Widget", "have changes that are not committed", types, "FORCE=1")
	copied.run(t, "make drop KIND=Widget FORCE=1")
	copied.expectClean(t, "HEAD~1")
}

// checkKinds checks the kinds, in braces, as make verify and make test do, which take longer: they check everything else, too.
func (r repository) checkKinds(t *testing.T, kinds string) {
	t.Helper()
	r.run(t, "make verify ARGS='format shell repository'")
	r.run(t, `"$(go -C hack/tools/lint tool -n golangci-lint)" run --allow-parallel-runners --config .golangci.yaml \
		./cmd/controller ./pkg/apis/... ./pkg/reconciler/`+kinds+` ./test/`+kinds+`/... ./test/permissions`)
	r.run(t, "go test -vet=off ./pkg/apis/samples/... ./pkg/reconciler/"+kinds+" ./pkg/webhook ./test/"+kinds)
	r.run(t, "go test -vet=off -tags nightly ./test/permissions -run 'TestPermissions|TestSecurityPage|TestServiceAccounts'")
	pages := strings.NewReplacer("{", "(", ",", "|", "}", ")").Replace(kinds)
	r.run(t, "go test -vet=off ./test/docs -run 'TestCommands_EachDocument_PrintWhatItShows/docs/reference/api/"+pages+".md|TestLinks|TestPages'")
}

func TestMakeKind_External_PassesItsTestsAndIsDropped(t *testing.T) {
	copied := newRepository(t)
	copied.run(t, "make kind KIND=Board OWNS=external")
	copied.run(t, "make kind KIND=Region OWNS=external SCOPE=Cluster VERSION=v1alpha1")
	copied.Commit(t, "Add kinds", checkout.Committed)
	copied.checkKinds(t, "{board,region}")
	copied.run(t, "make verify ARGS='modules codegen'")
	copied.run(t, "make version KIND=Region VERSION=v1")
	copied.run(t, "go vet ./test/{region,permissions}")
	copied.run(t, "go test -vet=off -short ./pkg/apis/samples/... ./pkg/reconciler/region")
	copied.run(t, "make drop KIND=Region FORCE=1")
	copied.run(t, "make drop KIND=Board")
	copied.expectClean(t, "HEAD~1")
}

// The guide has a cluster-scoped kind with a Deployment, and test/docs a namespaced one.
func TestMakeKind_ClusterScopedWithAConfigMap_PassesItsUnitTests(t *testing.T) {
	copied := newRepository(t)
	copied.run(t, "make kind KIND=Region SCOPE=Cluster")
	if crd := copied.Read(t, "config/300-region.yaml"); !strings.Contains(crd, "\n  scope: Cluster\n") {
		t.Errorf("the CRD has another scope:\n%s", crd)
	}
	if client := copied.Read(t, "pkg/client/clientset/versioned/typed/samples/v1/region.go"); !strings.Contains(client, "\n	Regions() RegionInterface\n") {
		t.Errorf("the client has a namespace:\n%s", client)
	}
	copied.run(t, "go vet ./test/{region,permissions}")
	copied.run(t, "go test ./pkg/apis/samples/v1 ./pkg/reconciler/region")
}

// The kind joins the conversions of AddressableService at its last version, and has the version between the two, too.
func TestMakeVersion_KindJoinsOthers_PassesItsUnitTests(t *testing.T) {
	copied := newRepository(t)
	copied.run(t, "make kind KIND=Widget VERSION=v1alpha1")
	copied.Commit(t, "Add a kind", checkout.Committed)
	copied.reject(t, "make version KIND=Widget VERSION=v1beta1", "VERSION=v1beta1: must be more stable than v1")
	copied.reject(t, "make version KIND=Widget VERSION=v2", "AddressableService would lack version v2", "KIND=Widget,AddressableService")
	copied.expectClean(t, "HEAD")
	copied.run(t, "make version KIND=Widget VERSION=v1")
	copied.Commit(t, "Add a version", checkout.Committed+1)
	copied.run(t, "make verify ARGS='modules format codegen'")
	copied.run(t, "go test -vet=off ./test/repository -run 'Kinds?_|PostInstall'")
	copied.run(t, "go test -vet=off -short ./pkg/apis/samples/... ./pkg/reconciler/widget ./pkg/webhook")
	// The hub moves. Files that only AddressableService has use methods that have moved, too.
	if out := copied.run(t, "make version KIND=Widget,AddressableService VERSION=v2"); !strings.Contains(out, "\nv1 → v2: ") {
		t.Errorf("make version generates no conversion to v2:\n%s", out)
	}
	copied.run(t, "git reset --quiet --hard && git clean --quiet --force -d")
	copied.run(t, "make drop KIND=Widget")
	copied.expectClean(t, "HEAD~2")
}

func TestMakeKind_InvalidVariable_ChangesNothing(t *testing.T) {
	copied := newRepository(t)
	copied.reject(t, "make kind KIND=Widget OWNS=v1.Event", "OWNS=v1.Event: must be one of", "apps/v1.Deployment")
	copied.reject(t, "make kind KIND=Widget VERSION=v9", "VERSION=v9: the API has no such version; it has")
	copied.reject(t, "make drop KIND=Widget", "KIND=Widget: cmd/controller/main.go does not construct a reconciler of this kind")
	// The go command reports these two before a file is written.
	copied.reject(t, "GOFLAGS=-mod=vendor make kind KIND=Widget", "inconsistent vendoring")
	copied.reject(t, "env -u HOME -u GOPATH -u GOMODCACHE make kind KIND=Widget", "module cache not found")
	copied.expectClean(t, "HEAD")
}

// repository is a clone of the repository.
type repository struct{ checkout.Checkout }

func newRepository(t *testing.T) repository {
	t.Helper()
	return repository{checkout.Clone(t, root)}
}

// run runs a line of a shell.
func (r repository) run(t *testing.T, line string) string {
	t.Helper()
	return r.Run(t, "bash", append(shell, line)...)
}

// reject expects a command to fail and to print these parts.
func (r repository) reject(t *testing.T, command string, parts ...string) {
	t.Helper()
	output, err := r.Command(t, "bash", append(shell, command)...).CombinedOutput()
	out := string(output)
	if err == nil {
		t.Fatalf("%s succeeds:\n%s", command, out)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("%s does not print %q:\n%s", command, part, out)
		}
	}
}

// expectClean expects the files of a commit and no others.
func (r repository) expectClean(t *testing.T, commit string) {
	t.Helper()
	r.run(t, "git add --all")
	if difference := r.run(t, "git diff --cached --stat "+commit); difference != "" {
		t.Errorf("the files differ from %s:\n%s", commit, difference)
	}
}
