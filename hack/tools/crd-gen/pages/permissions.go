/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const permissionsIntro = `# Permissions

> For cluster administrators. Takes 5 minutes. Result: you know each RBAC permission of each process, its reason, and the file that grants it.

Each table lists the permissions of one ServiceAccount. The scope is a namespace, or *cluster* for all namespaces and for objects outside of
namespaces.`

// overlaysAndSuite and ducksPage are left out of a repository that has generated pages only.
const overlaysAndSuite = ` An installation for [one namespace](../how-to/install.md#overlays) has Roles in place of most ClusterRoles. The suite
` + "`test/permissions`" + ` compares the verbs with the audit log of the API server: a process uses each verb that it has.`

const aggregatedIntro = `
## Permissions of users

Kubernetes adds these rules to its own roles. ` + "`edit`" + ` includes ` + "`view`, and `admin` includes `edit`" + `.

`

const ducksIntro = `
## Permissions for kinds of other authors

The author of a kind ships a ClusterRole with one of these labels, so that the processes are authorized for the kind`

const ducksPage = `; see
[duck typing](../explanation/duck-typing.md)`

// manifest is a manifest about permissions, with the comments of its rules.
type manifest struct {
	file     string
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Rules    []yaml.Node
	Subjects []struct{ Kind, Name string }
	RoleRef  struct{ Kind, Name string } `yaml:"roleRef"`
	// AggregationRule selects the roles whose rules this one has.
	AggregationRule struct {
		ClusterRoleSelectors []struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"clusterRoleSelectors"`
	} `yaml:"aggregationRule"`
}

type rule struct {
	APIGroups     []string `yaml:"apiGroups"`
	Resources     []string `yaml:"resources"`
	ResourceNames []string `yaml:"resourceNames"`
	Verbs         []string `yaml:"verbs"`
}

// permissionsPage returns the page of the permissions that the manifests of config/, post-install/ and optional/ grant.
func permissionsPage(root string) (string, error) {
	manifests, err := readManifests(root, "config", "post-install", "optional")
	if err != nil {
		return "", err
	}
	roles := make(map[string]manifest)
	for _, m := range manifests {
		if m.Kind == "ClusterRole" || m.Kind == "Role" {
			roles[m.Kind+" "+m.Metadata.Name] = m
		}
	}
	accounts := make(map[string][][]string)
	var users, ducks [][]string
	for _, m := range manifests {
		switch m.Kind {
		case "ClusterRoleBinding", "RoleBinding":
			role, found := roles[m.RoleRef.Kind+" "+m.RoleRef.Name]
			if !found {
				return "", fmt.Errorf("%s of %s refers to %s %s, which no manifest contains", m.Kind, m.file, m.RoleRef.Kind, m.RoleRef.Name)
			}
			scope := "cluster"
			if m.Kind == "RoleBinding" {
				scope = code(m.Metadata.Namespace)
			}
			rows, err := role.rows(scope)
			if err != nil {
				return "", err
			}
			for _, subject := range m.Subjects {
				accounts[subject.Name] = append(accounts[subject.Name], rows...)
			}
		case "ClusterRole":
			rows, err := m.rows("")
			if err != nil {
				return "", err
			}
			users = append(users, labeled(m, "rbac.authorization.k8s.io/aggregate-to-", "", rows)...)
			ducks = append(ducks, labeled(m, "duck.", "duck.", rows)...)
		}
	}
	described := func(text string) string {
		if isDescribed(root) {
			return text
		}
		return ""
	}
	var page strings.Builder
	page.WriteString(permissionsIntro + described(overlaysAndSuite) + "\n")
	columns := []string{"API group", "resources", "names", "verbs", "scope", "reason", "file"}
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		fmt.Fprintf(&page, "\n## ServiceAccount %s\n\n%s", account, table(columns, accounts[account]))
	}
	if len(users) > 0 {
		page.WriteString(aggregatedIntro + table(append([]string{"added to"}, columns...), users))
	}
	if len(ducks) > 0 {
		page.WriteString(ducksIntro + described(ducksPage) + ".\n\n" + table(append([]string{"label"}, columns...), ducks))
	}
	return page.String(), nil
}

// labeled returns the rows of a role for each of its labels with the prefix, with the label in one more cell. There, replacement is the prefix.
func labeled(m manifest, prefix, replacement string, rows [][]string) [][]string {
	var longer [][]string
	for _, label := range slices.Sorted(maps.Keys(m.Metadata.Labels)) {
		if name, ok := strings.CutPrefix(label, prefix); ok {
			for _, row := range rows {
				longer = append(longer, append([]string{code(replacement + name)}, row...))
			}
		}
	}
	return longer
}

// rows returns the rows about a role that has the scope. An empty scope means a role that other roles include.
func (m manifest) rows(scope string) ([][]string, error) {
	file := fmt.Sprintf("[%s](../../%s)", filepath.Base(m.file), m.file)
	var rows [][]string
	for _, selector := range m.AggregationRule.ClusterRoleSelectors {
		for _, label := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
			reason := fmt.Sprintf("the rules of each ClusterRole with the label `%s: %q`", label, selector.MatchLabels[label])
			rows = append(rows, []string{"", "", "", "", scope, reason, file})
		}
	}
	for i, node := range m.Rules {
		if scope != "" && node.HeadComment == "" {
			return nil, fmt.Errorf("rule %d of %s %s in %s has no reason: write a comment above it", i+1, m.Kind, m.Metadata.Name, m.file)
		}
		var r rule
		if err := node.Decode(&r); err != nil {
			return nil, fmt.Errorf("reading a rule of %s in %s: %w", m.Metadata.Name, m.file, err)
		}
		rows = append(rows, []string{
			codes(groups(r.APIGroups)), codes(r.Resources), fewNames(r.ResourceNames), codes(r.Verbs), scope, comment(node.HeadComment), file,
		})
	}
	return rows, nil
}

// groups returns API groups, with core for the one without a name.
func groups(names []string) []string {
	var shown []string
	for _, name := range names {
		if name == "" {
			name = "core"
		}
		shown = append(shown, name)
	}
	return shown
}

// fewNames returns names, of which there may be many of one form.
func fewNames(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s to %s (%d)", code(names[0]), code(names[len(names)-1]), len(names))
	}
	return codes(names)
}

// comment returns the text of a comment in YAML.
func comment(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n# ", " "), "# ", "")
}

// readManifests returns the objects in the YAML files of the folders.
func readManifests(root string, folders ...string) ([]manifest, error) {
	var found []manifest
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.yaml"))
		if err != nil {
			return nil, fmt.Errorf("finding manifests: %w", err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("reading manifests: %w", err)
			}
			decoder := yaml.NewDecoder(bytes.NewReader(content))
			for {
				m := manifest{file: folder + "/" + filepath.Base(path)}
				if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return nil, fmt.Errorf("reading %s: %w", m.file, err)
				}
				found = append(found, m)
			}
		}
	}
	return found, nil
}
