//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/test/checkout"
)

const (
	changedByBoth    = "pkg/reconciler/addressableservice/doc.go"
	changedByFork    = "pkg/apis/pond/v1/addressableservice_validation.go"
	changedUpstream  = "pkg/apis/samples/v1/addressableservice_validation.go"
	addedByFork      = "pkg/reconciler/widget/doc.go"
	addedUpstream    = "pkg/apis/samples/v1/later.go"
	addedFromThere   = "pkg/apis/pond/v1/later.go"
	packageOfAddress = "// Package addressableservice"
	// lastCommits names the commit before those that a fork merges.
	lastCommits = "HEAD~10"
)

// A fork with an added kind and a changed file merges three commits of the template. Then both change the same line: git reports that conflict
// and no other.
func TestUpdateTemplate_ChangedFork_Merges(t *testing.T) {
	template := newTemplate(t)
	fork := template.pond(t)
	base := strings.TrimSpace(template.Output(t, "git", "rev-parse", "HEAD"))

	header, _, _ := strings.Cut(template.Read(t, changedUpstream), "package ")
	template.Write(t, addedUpstream, header+"package v1\n\n// Later is a name of Mallard.\nconst Later = \"mallard\"\n")
	template.Commit(t, "Add a file", checkout.Committed+1)
	template.append(t, changedUpstream, "\n// Mallard changed the end.\n")
	template.Commit(t, "Change a file", checkout.Committed+2)
	if err := os.Remove(template.Dir + "/pkg/apis/samples/v1/targetreference_test.go"); err != nil {
		t.Fatal(err)
	}
	template.Commit(t, "Remove a file", checkout.Committed+3)

	fork.Run(t, "make", "kind", "KIND=Widget")
	fork.expectLines(t, map[string]string{
		"README.md":                            "| [Widget](docs/reference/api/widget-fields.md) | the API that ",
		"docs/reference/reasons-and-events.md": "[Widget](api/widget-fields.md) describes the kind.",
		"docs/reference/permissions.md":        "| `pond.acme.io` | `widgets/status` | `update` |",
		"docs/reference/api/widget-fields.md":  "| `spec.message` | ",
	})
	fork.replace(t, changedByFork, "package v1\n", "package v1 // of the fork\n")
	fork.expectUpdate(t, template.Dir, "has changes")
	fork.replace(t, ".template.yaml", "MODULES: "+template.Dir, "MODULES: /moved") // as on another machine
	fork.Commit(t, "Change the fork", checkout.Committed+4)
	fork.Run(t, "make", "update-template", "FROM="+template.Dir)
	fork.expectLines(t, map[string]string{
		addedFromThere: `const Later = "pond"`, changedByFork: "package v1 // of the fork", addedByFork: "// Package widget",
		".template.yaml": "commit: " + strings.TrimSpace(template.Output(t, "git", "rev-parse", "HEAD")),
	})
	fork.expectLines(t, map[string]string{changedByFork: "// Pond changed the end."})
	fork.Run(t, "go", "test", "-vet=off", "./cmd/controller", "./pkg/reconciler/widget")
	if files := fork.Files(t, "pkg/apis/pond/v1/targetreference_test.go"); len(files) > 0 || strings.Contains(fork.Read(t, ".template.yaml"), base) {
		t.Errorf("the update kept %v, or the base %s", files, base)
	}

	template.replace(t, changedByBoth, packageOfAddress, "// In the template: package addressableservice")
	template.Commit(t, "Change the line", checkout.Committed+5)
	fork.replace(t, changedByBoth, packageOfAddress, "// In the fork: package addressableservice")
	fork.Commit(t, "Change the same line", checkout.Committed+6)
	fork.expectUpdate(t, template.Dir, "git cherry-pick --continue")
	if got := strings.TrimSpace(fork.Output(t, "git", "diff", "--name-only", "--diff-filter=U")); got != changedByBoth {
		t.Errorf("git reports conflicts in %q, want %s", got, changedByBoth)
	}
	fork.Run(t, "git", "cherry-pick", "--abort")
	if got := fork.Output(t, "git", "status", "--porcelain"); got != "" {
		t.Errorf("after the end of the update there are changes:\n%s", got)
	}
}

// A fork with an added kind and a changed file, made by an earlier commit of the template, merges all later ones. Files that the fork has not changed
// become those of a fork of the last commit. git may report conflicts in the others, which depend on what the commits change.
func TestUpdateTemplate_LastCommits_ReplaceUnchangedFiles(t *testing.T) {
	template := newTemplate(t)
	last := strings.TrimSpace(template.Output(t, "git", "rev-parse", "HEAD"))
	if out, err := template.Command(t, "git", "checkout", "--quiet", lastCommits).CombinedOutput(); err != nil {
		t.Fatalf("the repository has no commit %s, such as after git clone --depth=1, which git fetch --unshallow remedies: %v\n%s", lastCommits, err, out)
	}
	fork := template.pond(t)
	fork.Run(t, "make", "kind", "KIND=Widget")
	fork.append(t, changedByFork, "\n// The fork changed the end.\n")
	fork.Commit(t, "Change the fork", checkout.Committed)
	changed := strings.Fields(fork.Output(t, "git", "diff", "--name-only", "HEAD~1"))
	template.Run(t, "git", "checkout", "--quiet", last)

	out, err := fork.Command(t, "make", "update-template", "FROM="+template.Dir).CombinedOutput()
	conflicts := fork.Output(t, "git", "diff", "--name-only", "--diff-filter=U")
	if (err != nil) != (conflicts != "") {
		t.Fatalf("the update ended with %v, and git reports conflicts in %q:\n%s", err, conflicts, out)
	}
	t.Logf("conflicts in files that the fork changed: %q", conflicts)
	fork.Run(t, "git", "add", "--all")
	fork.Run(t, "git", "fetch", "--quiet", template.pond(t).Dir, "HEAD")
	for _, path := range strings.Fields(fork.Output(t, "git", "diff", "--cached", "--name-only", "FETCH_HEAD")) {
		if !slices.Contains(changed, path) {
			t.Errorf("after the update, %s differs from that of a fork of the last commit:\n%s", path, fork.Output(t, "git", "diff", "--cached", "FETCH_HEAD", "--", path))
		}
	}
}

// pond makes a fork with one kind, in which git commits.
func (r repository) pond(t *testing.T) repository {
	t.Helper()
	fork := r.fork(t, map[string]string{
		"MODULE": "example.com/acme/pond", "GROUP": "pond.acme.io", "NAME": "Pond", "NAMESPACE": "pond-system",
		"KINDS": "AddressableService", "VERSIONS": "v1", "MODULES": r.Dir,
	})
	fork.Run(t, "git", "config", "user.name", "fork")
	fork.Run(t, "git", "config", "user.email", "fork@example.com")
	return fork
}

// expectUpdate updates from the template, which has to fail.
func (r repository) expectUpdate(t *testing.T, from, want string) {
	t.Helper()
	out, err := r.Command(t, "make", "update-template", "FROM="+from).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("the update ended with %v, want %q in:\n%s", err, want, out)
	}
}

func (r repository) expectLines(t *testing.T, lines map[string]string) {
	t.Helper()
	for path, line := range lines {
		if !strings.Contains("\n"+r.Read(t, path), "\n"+line) {
			t.Errorf("no line of %s begins with %q", path, line)
		}
	}
}

func (r repository) append(t *testing.T, path, text string) {
	t.Helper()
	r.Write(t, path, r.Read(t, path)+text)
}

func (r repository) replace(t *testing.T, path, from, to string) {
	t.Helper()
	content := r.Read(t, path)
	if !strings.Contains(content, from) {
		t.Fatalf("%s has no %q", path, from)
	}
	r.Write(t, path, strings.Replace(content, from, to, 1))
}
