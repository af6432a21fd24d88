/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestFiles_InAFork_HaveTheNamesOfTheFork(t *testing.T) {
	fork, p := newFork(t), thisProject(t)
	for _, options := range []Options{{Kind: "Lily"}, {Kind: "Frog", Owns: "apps/v1.Deployment"}, {Kind: "Toad", Owns: "external"}} {
		m, err := newModel(fork, options)
		if err != nil {
			t.Fatal(err)
		}
		files, err := m.files()
		if err != nil {
			t.Fatal(err)
		}
		registered, err := m.register()
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for path, content := range files {
			parts = append(parts, path, content)
		}
		all := strings.Join(parts, "\n")
		for _, name := range []string{p.Module, p.Group, p.Namespace, "name: " + p.App + "-", "apis/" + p.API + "/"} {
			if at := strings.Index(all, name); at >= 0 {
				t.Errorf("the files of %s contain %q: …%s…", options.Kind, name, all[max(at-100, 0):min(at+100, len(all))])
			}
		}
		for _, name := range []string{
			`"example.net/kestrel/v2/pkg/apis/kestrel/v1"`, "kestrel.example.net/v1", "namespace: kestrel-system", "name: kestrel-" + m.Lower() + "-controller",
			"KestrelV1()", "kestrel.Shorten(",
		} {
			if !strings.Contains(all, name) {
				t.Errorf("the files of %s do not contain %q", options.Kind, name)
			}
		}
		if want := "\t\"example.net/kestrel/v2/pkg/reconciler/" + m.Lower() + "\"\n"; !strings.Contains(registered[constructors], want) {
			t.Errorf("%s does not import %q:\n%s", constructors, want, registered[constructors])
		}
		if _, ok := files[pages+"/"+m.Lower()+".md"]; ok {
			t.Error("a page is rendered although the fork has no index of pages")
		}
	}
}

const listOfKinds = "| kind | purpose |\n|---|---|\n| [Nest](docs/reference/api/nest-fields.md) | the API that holds eggs |\n\nText.\n"

func TestRegister_ReadmeListsKinds_KindIsAddedAndRemoved(t *testing.T) {
	p := newRepository(t, map[string]string{readme: listOfKinds, "docs/reference/api/nest-fields.md": ""})
	m, err := newModel(p.root, Options{Kind: "Lily"})
	if err != nil {
		t.Fatal(err)
	}
	registered, err := m.register()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(listOfKinds, "| [Nest]",
		"| [Lily](docs/reference/api/lily-fields.md) | the API that publishes its message in a ConfigMap |\n| [Nest]", 1)
	if registered[readme] != want {
		t.Errorf("%s is:\n%s\nwant:\n%s", readme, registered[readme], want)
	}
	if err := p.write(readme, registered[readme]); err != nil {
		t.Fatal(err)
	}
	left, err := p.unregister("Lily")
	if err != nil || left[readme] != listOfKinds {
		t.Errorf("without the kind, %s is (%v):\n%s", readme, err, left[readme])
	}
}

// newRepository returns a fork that git knows, with a kind in these files.
func newRepository(t *testing.T, files map[string]string) *project {
	t.Helper()
	p, err := readProject(newFork(t))
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range files {
		if err := p.write(path, content); err != nil {
			t.Fatal(err)
		}
	}
	p.commit(t)
	return p
}

func (p *project) commit(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"init"}, {"add", "--all"}, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--message", "all"}} {
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = p.root
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

const lily = "package v1\n\ntype Lily struct{}\n"

const (
	webhookConfiguration = "config/500-webhook-configuration.yaml"
	conditionsBefore     = "    matchConditions:\n      - name: not-a-deletion\n        expression: request.operation != 'DELETE'\n      # For each kind.\n"
	conditionsAfter      = "      - name: lilypad-lacks-a-default\n        expression: request.kind.kind != 'Lilypad'\n---\nkind: ValidatingWebhookConfiguration\n"
	conditionsOfLily     = `      - name: lily-lacks-a-default
        expression: >-
          request.kind.kind != 'Lily' ||
          object.spec.?text.orValue('') == ''
      - name: lily-may-be-invalid
        expression: request.kind.kind != 'Lily'
`
)

func TestUnregister_MatchConditionsOfTheKind_AreRemoved(t *testing.T) {
	p := newRepository(t, map[string]string{
		webhookConfiguration: conditionsBefore + conditionsOfLily + conditionsAfter, "config/500-other.yaml": conditionsOfLily, "config/300-lily.yaml": conditionsOfLily,
	})
	left, err := p.unregister("Lily")
	if err != nil {
		t.Fatal(err)
	}
	if want := conditionsBefore + conditionsAfter; left[webhookConfiguration] != want {
		t.Errorf("the webhooks are:\n%s\nwant:\n%s", left[webhookConfiguration], want)
	}
	if other, ok := left["config/500-other.yaml"]; !ok || other != "" {
		t.Errorf("the other webhooks are (%v):\n%s", ok, other)
	}
	if _, ok := left["config/300-lily.yaml"]; ok {
		t.Error("a file that is no webhook configuration changes")
	}
}

func TestDrop_FilesOfTheKind_AreThoseWithItsName(t *testing.T) {
	own := []string{
		"config/200-lily-roles.yaml", "config/300-lily.yaml", "docs/reference/api/lily.md", "kustomize/overlays/hooks/200-lily-hooks.yaml",
		"pkg/apis/kestrel/lily.go", "pkg/apis/kestrel/v1/lily_types.go",
		"pkg/reconciler/lily/controller.go", "pkg/reconciler/lily/testdata/a.json", "samples/500-lily-large.yaml", "samples/500-lily.yaml", "test/lily/doc.go",
		"test/permissions/lily_test.go",
	}
	others := []string{
		"cmd/lily/main.go", "config/300-lilypad.yaml", "docs/reference/api/lilypad.md", "pkg/apis/kestrel/v1/lilypad_types.go", "pkg/apis/other/v1/lily_types.go",
		"pkg/reconciler/lilypad/doc.go", "samples/500-lilypad.yaml", "test/lilypad/doc.go",
	}
	p := &project{root: t.TempDir(), API: "kestrel", versions: []string{"v1"}}
	for _, path := range slices.Concat(own, others) {
		if err := p.write(path, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.filesOf("lily", slices.Concat(others, own, []string{"test/lily/deleted_test.go"})); !slices.Equal(got, own) {
		t.Errorf("files are %q, want %q", got, own)
	}
}

func TestDrop_ChangesAreNotCommitted_TheyAreNamed(t *testing.T) {
	const committed, edited, added = "pkg/reconciler/lily/controller.go", "pkg/reconciler/lily/b.go", "pkg/reconciler/lily/c.go"
	p := newRepository(t, map[string]string{committed: lily, edited: lily, constructors: "\t\tlily.NewController,\n"})
	for path, content := range map[string]string{edited: lily + "// edited\n", added: lily} {
		if err := p.write(path, content); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{committed, edited, added}
	err := p.checkDrop(t.Context(), Options{Kind: "Lily"}, files)
	if want := " M " + edited + "\n?? " + added; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("the error is %v, want %q at its end", err, want)
	}
	if err := p.checkDrop(t.Context(), Options{Kind: "Lily", Force: true}, files); err != nil {
		t.Errorf("with FORCE=1: %v", err)
	}
}
