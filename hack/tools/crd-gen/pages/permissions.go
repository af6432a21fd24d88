/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"bytes"
	"cmp"
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

// permissionsPage returns the page of the permissions that the manifests of config/, post-install/, optional/ and the overlay hooks grant.
func permissionsPage(root string) (string, error) {
	manifests, err := readManifests(root, "config", "kustomize/overlays/hooks", "post-install", "optional")
	if err != nil {
		return "", err
	}
	roles := make(map[string]manifest)
	for _, m := range manifests {
		if m.Kind == "ClusterRole" || m.Kind == "Role" {
			roles[m.Kind+" "+m.Metadata.Name] = m
		}
	}
	page := struct {
		IsDescribed  bool
		Accounts     map[string][][]string
		Users, Ducks [][]string
	}{IsDescribed: isDescribed(root), Accounts: make(map[string][][]string)}
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
				page.Accounts[subject.Name] = append(page.Accounts[subject.Name], rows...)
			}
		case "ClusterRole":
			rows, err := m.rows("")
			if err != nil {
				return "", err
			}
			page.Users = append(page.Users, labeled(m, "rbac.authorization.k8s.io/aggregate-to-", "", rows)...)
			page.Ducks = append(page.Ducks, labeled(m, "duck.", "duck.", rows)...)
		}
	}
	return render("permissions.md", page)
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
		reason := strings.NewReplacer("\n# ", " ", "# ", "")
		for n, group := range r.APIGroups {
			r.APIGroups[n] = cmp.Or(group, "core")
		}
		rows = append(rows, []string{
			codes(r.APIGroups), codes(r.Resources), codes(r.ResourceNames), codes(r.Verbs), scope, reason.Replace(node.HeadComment), file,
		})
	}
	return rows, nil
}

// readManifests returns the objects in the YAML files of the folders.
func readManifests(root string, folders ...string) ([]manifest, error) {
	var found []manifest
	for _, folder := range folders {
		paths, _ := filepath.Glob(filepath.Join(root, folder, "*.yaml")) // it fails for a wrong pattern only
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
