/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"maps"
	"os"
	"strings"
	"testing"
)

const (
	changedByBoth    = "pkg/reconciler/addressableservice/doc.go"
	changedByFork    = "pkg/apis/pond/v1/addressableservice_validation.go"
	changedUpstream  = "pkg/apis/samples/v1/addressableservice_validation.go"
	addedByFork      = "pkg/added/doc.go"
	addedUpstream    = "pkg/apis/samples/v1/later.go"
	addedFromThere   = "pkg/apis/pond/v1/later.go"
	packageOfAddress = "// Package addressableservice"
)

// A fork with an added file and a changed file merges three commits of the template. Then both change the same line: git reports that conflict
// and no other.
func TestUpdateTemplate_ChangedFork_Merges(t *testing.T) {
	template := newTemplate(t)
	fork := template.fork(t, map[string]string{
		"MODULE": "example.com/acme/pond", "GROUP": "pond.acme.io", "NAME": "Pond", "NAMESPACE": "pond-system",
		"KINDS": "AddressableService", "VERSIONS": "v1", "WITHOUT": everyProduct,
	})
	base := strings.TrimSpace(template.output(t, "git", "rev-parse", "HEAD"))
	environments := template.environment

	header, _, _ := strings.Cut(template.read(t, changedUpstream), "package ")
	template.write(t, addedUpstream, header+"package v1\n\n// Later is a name of Mallard.\nconst Later = \"mallard\"\n")
	template.commit(t, "Add a file", committed+1)
	template.append(t, changedUpstream, "\n// Mallard changed the end.\n")
	template.commit(t, "Change a file", committed+2)
	if err := os.Remove(template.dir + "/pkg/apis/samples/v1/targetreference_test.go"); err != nil {
		t.Fatal(err)
	}
	template.commit(t, "Remove a file", committed+3)
	fork.environment = merged(environments, template.serveModules(t))

	fork.write(t, addedByFork, strings.Replace(fork.read(t, changedByBoth), packageOfAddress, "// Package added", 1))
	fork.replace(t, changedByFork, "package v1\n", "package v1 // of the fork\n")
	fork.expectUpdate(t, template.dir, "has changes")
	fork.commit(t, "Change the fork", committed+4)
	fork.run(t, "git", "config", "user.name", "fork")
	fork.run(t, "git", "config", "user.email", "fork@example.com")
	fork.run(t, "make", "update-template", "FROM="+template.dir)
	fork.expectLines(t, map[string]string{
		addedFromThere: `const Later = "pond"`, changedByFork: "package v1 // of the fork", addedByFork: "// Package added",
		".template.yaml": "commit: " + strings.TrimSpace(template.output(t, "git", "rev-parse", "HEAD")),
	})
	fork.expectLines(t, map[string]string{changedByFork: "// Pond changed the end."})
	if files := fork.files(t, "pkg/apis/pond/v1/targetreference_test.go"); len(files) > 0 || strings.Contains(fork.read(t, ".template.yaml"), base) {
		t.Errorf("the update kept %v, or the base %s", files, base)
	}

	template.replace(t, changedByBoth, packageOfAddress, "// In the template: package addressableservice")
	template.commit(t, "Change the line", committed+5)
	fork.environment = merged(fork.environment, template.serveModules(t))
	fork.replace(t, changedByBoth, packageOfAddress, "// In the fork: package addressableservice")
	fork.commit(t, "Change the same line", committed+6)
	fork.expectUpdate(t, template.dir, "git cherry-pick --continue")
	if got := strings.TrimSpace(fork.output(t, "git", "diff", "--name-only", "--diff-filter=U")); got != changedByBoth {
		t.Errorf("git reports conflicts in %q, want %s", got, changedByBoth)
	}
	fork.run(t, "git", "cherry-pick", "--abort")
	if got := fork.output(t, "git", "status", "--porcelain"); got != "" {
		t.Errorf("after the end of the update there are changes:\n%s", got)
	}
}

// expectUpdate updates from the template, which has to fail.
func (c checkout) expectUpdate(t *testing.T, from, want string) {
	t.Helper()
	out, err := c.command(t, "make", "update-template", "FROM="+from).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("the update ended with %v, want %q in:\n%s", err, want, out)
	}
}

func (c checkout) expectLines(t *testing.T, lines map[string]string) {
	t.Helper()
	for path, line := range lines {
		if !strings.Contains("\n"+c.read(t, path), "\n"+line) {
			t.Errorf("no line of %s begins with %q", path, line)
		}
	}
}

func (c checkout) append(t *testing.T, path, text string) {
	t.Helper()
	c.write(t, path, c.read(t, path)+text)
}

func (c checkout) replace(t *testing.T, path, from, to string) {
	t.Helper()
	content := c.read(t, path)
	if !strings.Contains(content, from) {
		t.Fatalf("%s has no %q", path, from)
	}
	c.write(t, path, strings.Replace(content, from, to, 1))
}

// merged returns environment variables with the proxies of both, since the fork needs the modules of the recorded commit and of the new one.
func merged(first, second []string) []string {
	const proxy = "GOPROXY="
	variables := map[string]string{}
	for _, variable := range append(first, second...) {
		name, value, _ := strings.Cut(variable, "=")
		if previous, ok := variables[name]; ok && name+"=" == proxy {
			value += "," + previous
		}
		variables[name] = value
	}
	var all []string
	for name := range maps.Keys(variables) {
		all = append(all, name+"="+variables[name])
	}
	return all
}
