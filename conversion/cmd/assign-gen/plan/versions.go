/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// where names a package in messages: with its folder, which is the version.
func where(pkg *model.Package) string { return path.Base(pkg.Path) }

// positions have the problems of packages, types and fields say where these are declared.
func (p *planner) positions(packages []*model.Package) {
	p.problems.Positions = make(map[string]token.Position)
	for _, each := range packages {
		for name, position := range each.Positions {
			p.problems.Positions[strings.TrimSuffix(where(each)+"."+name, ".")] = position
		}
	}
}

// versions orders the packages as their markers say.
func (p *planner) versions(packages []*model.Package) *Plan {
	result := &Plan{}
	settings := make(map[*Version]markers.Package)
	for _, each := range packages {
		version := &Version{Package: each, Name: each.Name}
		result.Versions = append(result.Versions, version)
		settings[version] = markers.ParsePackage(each.Markers, where(each), &p.problems)
		version.positional = settings[version].Positional
		p.typeFunctions[version] = settings[version].With
		markers.Stray(each.Stray, where(each), &p.problems)
	}
	p.hub(result, settings)
	for _, version := range result.Versions {
		p.next(version, result, settings[version])
	}
	p.circles(result)
	if p.problems.Has(problem.BrokenChain, problem.HubCount) {
		return result
	}
	p.annotation(result, settings)

	slices.SortFunc(result.Versions, func(a, b *Version) int {
		return cmp.Or(cmp.Compare(b.distance(), a.distance()), cmp.Compare(a.Package.Path, b.Package.Path))
	})
	for _, version := range result.Versions {
		if version.Next != nil {
			result.Links = append(result.Links, &Link{Older: version, Newer: version.Next})
		}
	}
	return result
}

func (p *planner) next(version *Version, result *Plan, settings markers.Package) {
	here := where(version.Package)
	version.Next = model.Find(result.Versions, func(v *Version) bool { return !settings.Hub && v.Package.Path == settings.Next })
	switch {
	case settings.Hub && settings.Next != "":
		p.problem(problem.BrokenChain, here, "the hub names a next version, "+settings.Next,
			"remove +conversion-gen:next, or move +conversion-gen:hub to the newest version")
	case settings.Hub:
	case settings.Next == "" && result.Hub == nil: // reported with the hub that is missing
	case settings.Next == "":
		p.problem(problem.BrokenChain, here, "the version is neither the hub nor does it name a next one",
			"add +conversion-gen:next=IMPORT/PATH or +conversion-gen:hub to doc.go")
	case version.Next == nil:
		paths := slices.Sorted(slices.Values(model.Each(result.Versions, func(v *Version) string { return v.Package.Path })))
		p.problem(problem.BrokenChain, here,
			"the next version, "+settings.Next+", is not given"+problem.Suggestion(settings.Next, paths),
			"correct +conversion-gen:next, or give that package too; versions of one API are in one folder")
	}
}

func (p *planner) hub(result *Plan, settings map[*Version]markers.Package) {
	var hubs, all, ends []string
	for _, version := range result.Versions {
		all = append(all, where(version.Package))
		if settings[version].Next == "" {
			ends = append(ends, where(version.Package))
		}
		if settings[version].Hub {
			hubs = append(hubs, where(version.Package))
			result.Hub = version
		}
	}
	slices.Sort(all)
	slices.Sort(hubs)
	switch {
	case len(hubs) == 0 && len(ends) == 0:
		p.problem(problem.HubCount, strings.Join(all, ", "), "no version is the hub",
			"write +conversion-gen:hub in place of +conversion-gen:next in doc.go of the version that is stored")
	case len(hubs) == 0:
		slices.Sort(ends)
		p.problem(problem.HubCount, strings.Join(ends, ", "), "no version is the hub",
			"add +conversion-gen:hub to doc.go of the version that is stored, and +conversion-gen:next=IMPORT/PATH to all others")
	case len(hubs) > 1:
		p.problem(problem.HubCount, strings.Join(hubs, ", "), "more than one version is the hub",
			"keep +conversion-gen:hub only in the version that is stored")
	}
}

// circles finds versions from which no hub can be reached because they follow each other. A circle is reported at its first.
func (p *planner) circles(result *Plan) {
	for i, start := range result.Versions {
		steps := []string{where(start.Package)}
		for version := start.Next; version != nil; version = version.Next {
			steps = append(steps, where(version.Package))
			if version == start {
				p.problem(problem.BrokenChain, steps[0], "the versions follow each other in a circle: "+strings.Join(steps, " → "),
					"let +conversion-gen:next lead from each version to a newer one, and the last to the hub")
				break
			}
			if slices.Contains(result.Versions[:i], version) || len(steps) > len(result.Versions) {
				break // it leads to a version whose circle, if any, is reported there
			}
		}
	}
}

func (v *Version) distance() int {
	count := 0
	for next := v.Next; next != nil; next = next.Next {
		count++
	}
	return count
}

// annotation takes the settings that hold for all versions from wherever they stand.
func (p *planner) annotation(result *Plan, settings map[*Version]markers.Package) {
	for _, version := range result.Versions {
		own := settings[version]
		for marker, isThere := range map[string]bool{"annotation": own.Annotation != "", "former": own.Former != nil, "retired": own.Retired != nil} {
			if isThere && version != result.Hub {
				p.problem(problem.BadMarker, where(version.Package),
					"the marker +conversion-gen:"+marker+" holds for all versions, and is at one that is not the hub",
					"move it to "+where(result.Hub.Package))
			}
		}
		for _, retired := range own.Retired {
			if version == result.Hub && slices.ContainsFunc(result.Versions, func(v *Version) bool { return v.Name == retired }) {
				p.problem(problem.BadMarker, where(version.Package), "the version "+retired+" is listed as retired and still exists",
					"remove it from +conversion-gen:retired, or the package from those that are given")
			}
		}
	}
	result.Annotation = settings[result.Hub].Annotation
	result.Retired = settings[result.Hub].Retired
	result.Former = settings[result.Hub].Former
	if result.Annotation == "" {
		p.problem(problem.BadMarker, where(result.Hub.Package), "no annotation is named for what a version cannot show",
			"add +conversion-gen:annotation=conversion.GROUP/properties to doc.go")
	}
}
