/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecurityPage_PermittedWrites_AreThoseOfTheRoles compares the table of SECURITY.md with what the Roles and ClusterRoles permit, in both directions.
func TestSecurityPage_PermittedWrites_AreThoseOfTheRoles(t *testing.T) {
	t.Parallel()
	verbs := map[string][]string{}
	for _, g := range grantsOf(t, append(manifests, "../../post-install/*.yaml")...) {
		if slices.Contains([]string{"get", "list", "watch"}, g.verb) {
			continue
		}
		resource := "`" + strings.TrimPrefix(g.group+"/"+g.resource, "/") + "`"
		if g.name != "" {
			resource += " named"
		}
		where := "every namespace"
		switch {
		case g.namespace != "":
			where = "`" + g.namespace + "`"
		case slices.Contains([]string{"admissionregistration.k8s.io", "apiextensions.k8s.io"}, g.group), strings.HasPrefix(g.resource, "namespaces"):
			where = "the cluster"
		}
		row := fmt.Sprintf("%s | %%s | %s | %s", g.account, resource, where)
		if !slices.Contains(verbs[row], g.verb) {
			verbs[row] = append(verbs[row], g.verb)
		}
	}
	var granted, documented []string
	for _, row := range slices.Collect(maps.Keys(verbs)) {
		granted = append(granted, fmt.Sprintf(row, strings.Join(slices.Sorted(slices.Values(verbs[row])), ", ")))
	}
	page, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| account | writes | to | in | for |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	written := map[string][]string{}
	for _, line := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		row := fmt.Sprintf("%s | %%s | %s | %s", cells[0], cells[2], cells[3])
		written[row] = append(written[row], strings.Split(cells[1], ", ")...)
	}
	// Several rows may be about one resource, each for another purpose.
	for row, verbs := range written {
		documented = append(documented, fmt.Sprintf(row, strings.Join(slices.Compact(slices.Sorted(slices.Values(verbs))), ", ")))
	}
	slices.Sort(granted)
	slices.Sort(documented)
	if diff := cmp.Diff(granted, documented); diff != "" {
		t.Errorf("the writes that the Roles permit (-) and those of SECURITY.md (+):\n%s", diff)
	}
}
