/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestFieldsPage_TwoVersions_NamesTheVersionsOfFieldsThatDiffer(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := yaml.UnmarshalStrict([]byte(`
spec:
  group: pond.example.com
  names: {kind: Goose, plural: geese, singular: goose, shortNames: [gs]}
  scope: Namespaced
  versions:
  - name: v1beta1
    schema: {openAPIV3Schema: {properties: {spec: {type: object, properties: {size: &size {type: integer, minimum: 1, maximum: 9, default: 3}}}}}}
  - name: v1
    schema: {openAPIV3Schema: {required: [spec], properties: {spec: {type: object, required: [names], properties: {
      size: *size, names: {type: array, maxItems: 2, items: {type: string, pattern: a|b, maxLength: 1}}}}}}}
`), crd)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"| `pond.example.com` | `v1`, `v1beta1` | `geese` | `gs` | Namespaced |",
		"| `spec` | v1 | object | yes | | |",
		"| `spec` | v1beta1 | object | | | |",
		"| `spec.names` | v1 | list of strings | yes | | at most 2 items; each: at most 1 character; each: matches `a\\|b` |",
		"| `spec.size` | | integer | | `3` | 1 to 9 |",
	}
	page, err := fieldsPage(t.TempDir(), crd)
	if err != nil {
		t.Fatal(err)
	}
	expectRows(t, page, want)
}

// root returns a folder with files.
func root(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// expectRows compares the rows of the tables of a page, without their headings.
func expectRows(t *testing.T, page string, want []string) {
	t.Helper()
	var got []string
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		isHeading := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && !isHeading {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("rows (-want +got):\n%s\npage:\n%s", diff, page)
	}
}

const lifecycle = `package v1

const (
	// GooseConditionFed is True when the goose has food.
	GooseConditionFed apis.ConditionType = "Fed"
	// GooseConditionSafe is True when no fox exists.
	GooseConditionSafe apis.ConditionType = "Safe"
)

// Reasons of the condition Fed.
const (
	// ReasonHungry (False): the bowl
	// is empty. Remedy: fill it.
	ReasonHungry = "Hungry"
)

// GooseReasonFox is the reason when a fox exists. It is that of Safe (False), and of Fed.
const GooseReasonFox = "Fox"
`

func TestReasonsPage_ReasonsAndEvents_AreListedByCondition(t *testing.T) {
	page, err := reasonsPage(root(t, map[string]string{
		"pkg/apis/pond/v1/goose_lifecycle.go": lifecycle,
		"pkg/reconciler/goose/goose.go": `package goose

// EventFed: the goose has food again.
const EventFed = "Fed"

var reported = []failures.Reported{{Condition: v1.GooseConditionFed, Reason: EventFed}}
`,
		"crud/hook/events.go": "package hook\n\n// Reasons of Events.\nconst (\n\t// ReasonFight: two writers fight.\n\tReasonFight = \"Fight\"\n)\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range []string{"### Goose: Fed\n\nThe condition is True when the goose has food.", "### Goose: Safe\n", "## Events of package crud/hook\n"} {
		if !strings.Contains(page, heading) {
			t.Errorf("the page lacks %q:\n%s", heading, page)
		}
	}
	expectRows(t, page, []string{
		"| `Hungry` | False | The bowl is empty. | Fill it. |",
		"| `Fox` | False | A fox exists. It is that of Safe (False), and of Fed. | – |",
		"| `Fox` | False | A fox exists. It is that of Safe (False), and of Fed. | – |",
		"| Warning | that of the condition | `Fed` became False, or False for another reason. |",
		"| Normal | `Fed` | The goose has food again. |",
		"| `Fight` | Two writers fight. | – |",
	})
}

func TestReasonsPage_ConstantWithoutComment_IsAnError(t *testing.T) {
	_, err := reasonsPage(root(t, map[string]string{"pkg/a.go": "package a\n\nconst ReasonNone = \"None\"\n"}))
	if err == nil || !strings.Contains(err.Error(), "constant ReasonNone of pkg/a.go has no comment") {
		t.Errorf("error is %v, want one that names the constant", err)
	}
}

func TestReasonsPage_ReasonWithoutStatus_IsAnError(t *testing.T) {
	_, err := reasonsPage(root(t, map[string]string{"pkg/a.go": strings.ReplaceAll(lifecycle, "(False)", "")}))
	if err == nil || !strings.Contains(err.Error(), "does not name the status: write (True)") {
		t.Errorf("error is %v, want one that requests the status", err)
	}
}

const roles = `kind: ClusterRole
metadata: {name: goose, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
rules:
  # It looks for
  # bread.
  - apiGroups: [""]
    resources: [pods]
    resourceNames: [a, b, c, d]
    verbs: [get]
---
kind: RoleBinding
metadata: {name: goose, namespace: pond}
subjects: [{kind: ServiceAccount, name: gander}]
roleRef: {kind: ClusterRole, name: goose}
`

func TestPermissionsPage_Rules_HaveScopeReasonAndFile(t *testing.T) {
	page, err := permissionsPage(root(t, map[string]string{"config/roles.yaml": roles}))
	if err != nil {
		t.Fatal(err)
	}
	expectRows(t, page, []string{
		"| `core` | `pods` | `a`, `b`, `c`, `d` | `get` | `pond` | It looks for bread. | [roles.yaml](../../config/roles.yaml) |",
		"| `view` | `core` | `pods` | `a`, `b`, `c`, `d` | `get` | It looks for bread. | [roles.yaml](../../config/roles.yaml) |",
	})
}

func TestPermissionsPage_BindingOfUnknownRole_IsAnError(t *testing.T) {
	_, role, _ := strings.Cut(roles, "---\n")
	_, err := permissionsPage(root(t, map[string]string{"config/roles.yaml": role}))
	if err == nil || !strings.Contains(err.Error(), "RoleBinding of config/roles.yaml refers to ClusterRole goose, which no manifest contains") {
		t.Errorf("error is %v, want one that names both", err)
	}
}

func TestPermissionsPage_RuleWithoutComment_IsAnError(t *testing.T) {
	without := strings.Replace(roles, "  # It looks for\n  # bread.\n", "", 1)
	_, err := permissionsPage(root(t, map[string]string{"config/roles.yaml": without}))
	if err == nil || !strings.Contains(err.Error(), "rule 1 of ClusterRole goose in config/roles.yaml has no reason: write a comment above it") {
		t.Errorf("error is %v, want one that names the rule", err)
	}
}

func TestConfigurationPage_KeysAndVariables_HaveDefaultsAndRules(t *testing.T) {
	page, err := configurationPage(root(t, map[string]string{
		"config/config-pond.yaml": "metadata: {name: config-pond}\ndata:\n  depth: \"2\"\n  _example: |\n    ####\n    # Copy it.\n    ####\n\n" +
			"    # It is about water.\n\n    # The depth in\n    # meters.\n    # Valid: a number.\n    depth: \"1\"\n    width: \"3\"\n\n" +
			"    # The owner.\n    # Valid: a name such as Ann.\n    # owner.NAME: \"Ann\"\n\n" +
			"    # Together: depth is less than width.\n    # Valid: {depth: 1}\n    # Invalid: {depth: 3}\n    # Invalid: {depth: 4}\n",
		"cmd/goose/main.go": "package main\n\ntype settings struct {\n\tPort process.Port `envconfig:\"GOOSE_PORT\" default:\"80\" desc:\"port of the goose\"`\n}\n",
		"crud/process/settings.go": "package process\n\n// Settings are common.\ntype Settings struct {\n" +
			"\tName string `envconfig:\"NAME\" required:\"true\" desc:\"name\"`\n}\n\nfunc (p *Port) Decode(value string) error { return errors.New(\"must be a port\") }\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page, "### config-pond\n\nIt is about water.\n") {
		t.Errorf("the page lacks the description of the ConfigMap:\n%s", page)
	}
	expectRows(t, page, []string{
		"| `depth` | `1` | `2` | a number | The depth in meters. |",
		"| `width` | `3` | | a number | The depth in meters. |",
		"| `owner.NAME` | | | a name such as Ann | The owner. |",
		"| depth is less than width | `{depth: 1}` | `{depth: 3}` `{depth: 4}` |",
		"| `GOOSE_PORT` | `80` | a port | Port of the goose. |",
		"| `NAME` | (required) | Name. |",
	})
}

func TestWrite_Pages_SayThatTheyAreGenerated(t *testing.T) {
	folder := t.TempDir()
	if err := Write(root(t, map[string]string{"config/roles.yaml": roles}), nil, folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reasons-and-events.md", "permissions.md", "configuration.md"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.HasPrefix(string(content), header) {
			t.Errorf("%s does not begin with the header: %v", name, err)
		}
	}
}

// The pages of a fork that has no others refer to none of them.
func TestWrite_OnlyGeneratedPages_LinksLeadToFiles(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Names.Kind, crd.Spec.Names.Singular = "Goose", "goose"
	labeled := strings.Replace(roles, "labels: {", "labels: {duck.example.com/fed: \"true\", ", 1)
	of := map[string]string{"config/roles.yaml": labeled, "pkg/apis/pond/v1/goose_lifecycle.go": lifecycle}
	for name, tc := range map[string]struct {
		others map[string]string
		want   []string
	}{
		"None": {nil, []string{"api/goose-fields.md", "../../config/roles.yaml"}},
		"Others": {map[string]string{"docs/README.md": ""}, []string{
			"goose.md", "api/goose.md", "../how-to/install.md#overlays", "../explanation/duck-typing.md", "../../config/roles.yaml",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			all := maps.Clone(of)
			maps.Copy(all, tc.others)
			folder := t.TempDir()
			if err := Write(root(t, all), []*apiextensionsv1.CustomResourceDefinition{crd}, folder); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range []string{"api/goose-fields.md", "reasons-and-events.md", "permissions.md"} {
				content, err := os.ReadFile(filepath.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				for _, match := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(content), -1) {
					got = append(got, match[1])
				}
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, slices.Compact(got)); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}
