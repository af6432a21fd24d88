/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"strings"
	"testing"
)

func TestReadme_SomeKinds_ListsThemOnly(t *testing.T) {
	text := Arguments{Kinds: []string{"SimpleDeployment"}}.readme(nil)
	for _, kind := range kinds() {
		row := "| [" + kind + "](docs/reference/api/" + strings.ToLower(kind) + "-fields.md) |"
		if got, want := strings.Contains(text, row), kind == "SimpleDeployment"; got != want {
			t.Errorf("the README contains the row %q: %v, want %v:\n%s", row, got, want, text)
		}
	}
}

func TestReadme_Folders_AreListed(t *testing.T) {
	text := Arguments{}.readme(tree{"crud/doc.go": {}, "localcluster/env/go.mod": {}, "monitoring/rules.yaml": {}})
	for folder, want := range map[string]bool{"docs/reference": true, "hardening": false, "crud": true, "localcluster": true, "monitoring": true} {
		if got := strings.Contains(text, "\n| `"+folder+"` |"); got != want {
			t.Errorf("the README lists the folder %s: %v, want %v:\n%s", folder, got, want, text)
		}
	}
}

// A new group may contain the template's.
func TestReadme_NewNames_AreInsertedOnce(t *testing.T) {
	a := Arguments{Group: "samples.knative.dev.acme.io", Name: "Mallard-Pond", Namespace: "knative-samples-pond", Kinds: kinds()[:1]}
	text := newNames(a, nil).rename(a.readme(nil))
	for _, want := range []string{
		"# Mallard-Pond: an operator\n", "`samples.knative.dev.acme.io`:\n", "kubectl -n knative-samples-pond logs", "=registry.example.com/mallard-pond\n",
		"[Mallard](https://github.com/mallard-dev/mallard)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the README does not contain %q:\n%s", want, text)
		}
	}
}
