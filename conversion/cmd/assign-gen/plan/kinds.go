/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// selected returns the kinds that are converted: those that are named, or all if none is.
func (p *planner) selected(named []string) func(kind *Struct) bool {
	kinds := make(map[string]bool)
	for _, structs := range p.structs {
		for _, each := range structs {
			if each.Root && !each.Settings.Skip {
				kinds[each.Name] = true
			}
		}
	}
	known := slices.Sorted(maps.Keys(kinds))
	for _, name := range named {
		if !kinds[name] {
			p.problem(problem.KindMissing, "--kinds", fmt.Sprintf("there is no kind %q%s", name, problem.Suggestion(name, known)),
				"kinds are "+strings.Join(known, ", "))
		}
	}
	return func(kind *Struct) bool {
		return !kind.Settings.Skip && (len(named) == 0 || slices.Contains(named, kind.Name))
	}
}

// kinds reports that no kind exists, and kinds that some version lacks without a marker for that. If a version in the middle lacked a kind
// by mistake, everything that is written at the versions before it would be lost.
func (p *planner) kinds(result *Plan) {
	having := make(map[string][]*Version)
	for _, version := range result.Versions {
		for _, each := range version.Structs {
			if each.Root {
				having[each.Name] = append(having[each.Name], version)
			}
		}
	}
	if len(having) == 0 {
		p.problem(problem.KindMissing, places(result.Versions), "no type is a kind, so there is nothing to convert",
			"embed metav1.TypeMeta and metav1.ObjectMeta in the types that are kinds, and do not mark all of them +conversion:skip")
	}
	for _, kind := range slices.Sorted(maps.Keys(having)) {
		allowed := p.allowedWithout(kind, having[kind], result.Versions)
		for _, version := range result.Versions {
			if slices.Contains(having[kind], version) || slices.Contains(allowed, version.Name) {
				continue
			}
			p.problem(problem.KindMissing, where(version.Package)+"."+kind,
				fmt.Sprintf("the kind is in %s and not here", places(having[kind])),
				fmt.Sprintf("add it, or mark the kind +conversion:skip=%s in the other versions if this one never had it, or +conversion:skip "+
					"to convert it nowhere", version.Name))
		}
	}
}

// allowedWithout are the versions that, by a marker, do not have a kind. Only those before its first one may be.
func (p *planner) allowedWithout(kind string, having, all []*Version) []string {
	var allowed []string
	names := model.Each(all, func(v *Version) string { return v.Name })
	for _, version := range having {
		root := version.Struct(kind)
		for _, without := range root.Settings.SkipIn {
			at := slices.Index(names, without)
			switch {
			case at < 0:
				p.problem(problem.BadMarker, where(version.Package)+"."+kind,
					fmt.Sprintf("there is no version %q%s", without, problem.Suggestion(without, names)), "versions are "+strings.Join(names, ", "))
			case slices.Contains(having, all[at]):
				p.problem(problem.BadMarker, where(version.Package)+"."+kind, "the kind is said to be missing in "+without+", which has it",
					"remove "+without+" from +conversion:skip")
			case follows(all[at], having):
				p.problem(problem.KindMissing, where(all[at].Package)+"."+kind, "the kind is in an older version, so what is written there would be lost here",
					"add it here too, or mark it +conversion:skip in all versions and keep it out of the CRD's others")
				allowed = append(allowed, without)
			default:
				allowed = append(allowed, without)
			}
		}
	}
	return allowed
}

// follows reports whether a version is newer than one of the others.
func follows(version *Version, others []*Version) bool {
	for _, other := range others {
		for next := other.Next; next != nil; next = next.Next {
			if next == version {
				return true
			}
		}
	}
	return false
}

func places(versions []*Version) string {
	return strings.Join(model.Each(versions, func(v *Version) string { return where(v.Package) }), ", ")
}
