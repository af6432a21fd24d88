/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/nearest"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// ParsePackage reads the markers of a package. Where is how messages name the package; problems are added to the list.
func ParsePackage(markers []model.Marker, where string, problems *problem.List) Package {
	var settings Package
	for _, marker := range check(markers, onPackage, where, problems) {
		switch marker.Name {
		case "conversion-gen:hub":
			settings.Hub = true
		case "conversion-gen:next":
			settings.Next = marker.Value
		case "conversion-gen:annotation":
			settings.Annotation = marker.Value
		case "conversion-gen:retired":
			settings.Retired = list(marker.Value)
		case "conversion-gen:positional":
			settings.Positional = true
		case "conversion-gen:with":
			settings.addFunctions(marker, where, problems)
		}
	}
	return settings
}

// ParseType reads the markers of a type.
func ParseType(markers []model.Marker, where string, problems *problem.List) Type {
	var settings Type
	for _, marker := range check(markers, onType, where, problems) {
		switch marker.Name {
		case "conversion:name":
			settings.Names = list(marker.Value)
		case "conversion:augment":
			settings.Augment = true
			settings.Metadata = metadata(marker, where, problems)
		case "conversion:with":
			settings.With = functions(marker, onType, where, problems)
		case "conversion:enum":
			settings.Enum = enum(marker, onType, where, problems)
		case "conversion:skip":
			settings.SkipIn = list(marker.Value)
			settings.Skip = len(settings.SkipIn) == 0
		}
	}
	return settings
}

// ParseField reads the markers of a field, among them those of Kubernetes that say what identifies a list's elements.
func ParseField(markers []model.Marker, where string, problems *problem.List) Field {
	var settings Field
	for _, marker := range check(markers, onField, where, problems) {
		switch marker.Name {
		case "conversion:rename":
			for path := range strings.SplitSeq(marker.Value, ",") {
				settings.Rename = append(settings.Rename, strings.Split(path, "."))
			}
		case "conversion:alias":
			settings.Alias = strings.Split(marker.Value, ".")
		case "conversion:flatten":
			settings.Flatten = true
		case "conversion:strategy":
			settings.ToNext = treatment(marker, where, problems)
		case "conversion:older":
			settings.ToOlder = treatment(marker, where, problems)
		case "conversion:enum":
			settings.Enum = enum(marker, onField, where, problems)
		case "conversion:unit":
			settings.Unit = unit(marker, where, problems)
		case "conversion:with":
			settings.With = functions(marker, onField, where, problems)
		case "conversion:basis":
			settings.Basis = list(marker.Value)
		case "conversion:zero":
			settings.ZeroIsAbsent = isAbsent(marker, where, problems)
		case "conversion:sensitive":
			settings.Sensitive = true
		case "conversion:positional":
			settings.Positional = true
		case "conversion:key":
			settings.ListMapKeys = list(marker.Value)
		}
	}
	if settings.ListMapKeys != nil {
		settings.KeyMarker = "+conversion:key"
	}
	isMap := slices.ContainsFunc(markers, func(m model.Marker) bool { return m.Name == "listType" && m.Value == "map" })
	if !isMap {
		return settings
	}
	if settings.KeyMarker != "" {
		problems.Add(problem.Problem{
			Code: problem.BadMarker, Where: where, Text: "+listMapKey identifies the list's elements, so that +conversion:key has no effect",
			Fix: "remove +conversion:key",
		})
	}
	settings.ListMapKeys, settings.KeyMarker = nil, "+listMapKey"
	for _, marker := range markers {
		if marker.Name == "listMapKey" {
			settings.ListMapKeys = append(settings.ListMapKeys, marker.Value)
		}
	}
	return settings
}

// Stray reports markers in places that are not read.
func Stray(markers []model.Marker, where string, problems *problem.List) {
	for _, marker := range markers {
		problems.Add(problem.Problem{
			Code: problem.BadMarker, At: marker.Position, Where: where,
			Text: fmt.Sprintf("the marker +%s belongs to nothing", marker.Name),
			Fix:  "put it directly above the type or field, without an empty line between them, or into doc.go",
		})
	}
}

// check returns those markers that are ours and in order.
func check(markers []model.Marker, here place, where string, problems *problem.List) []model.Marker {
	bad := func(fix, format string, args ...any) {
		problems.Add(problem.Problem{Code: problem.BadMarker, Where: where, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	var good []model.Marker
	seen := make(map[string]bool)
	for _, marker := range markers {
		if !ours(marker.Name) {
			continue
		}
		known, ok := define(marker.Name, here)
		switch {
		case !ok:
			unknown(marker.Name, here, bad)
		case known.place != here:
			bad("move it to "+string(known.place)+", or remove it", "the marker +%s belongs to %s, not to %s", marker.Name, known.place, here)
		case seen[marker.Name] && known.values != repeated:
			bad("write it once", "the marker +%s is repeated here", marker.Name)
		case known.values == none && marker.Value != "":
			bad(known.correct(), "the marker +%s takes no value, and has %q", marker.Name, marker.Value)
		case known.values >= required && marker.Value == "":
			bad(known.correct(), "the marker +%s needs a value", marker.Name)
		default:
			seen[marker.Name] = true
			good = append(good, marker)
		}
	}
	return good
}

// unknown reports a marker that does not exist, with the one whose name after the prefix is closest.
func unknown(name string, here place, bad func(fix, format string, args ...any)) {
	_, word, _ := strings.Cut(name, ":")
	var words []string
	for _, each := range definitions {
		_, rest, _ := strings.Cut(each.name, ":")
		words = append(words, rest)
	}
	fix, suggestion := "the markers of "+string(here)+" are "+strings.Join(names(here), ", "), ""
	if closest, found := nearest.Word(word, words); found {
		meant := definitions[slices.Index(words, closest)]
		suggestion = fmt.Sprintf("; did you mean %q?", meant.name)
		if meant.place == here {
			fix = meant.correct()
		}
	}
	bad(fix, "there is no marker +%s%s", name, suggestion)
}

// ours reports whether a marker is one of this generator's, or was meant to be one.
func ours(name string) bool {
	prefix, _, ok := strings.Cut(name, ":")
	if !ok {
		return slices.Contains(prefixes, name)
	}
	_, found := nearest.Word(prefix, prefixes)
	return found
}

func treatment(marker model.Marker, where string, problems *problem.List) Treatment {
	strategy, rest, hasOption := strings.Cut(marker.Value, ",")
	option, reason, _ := strings.Cut(rest, "=")
	result := Treatment{Strategy: Strategy(strategy), Reason: strings.TrimSpace(reason)}
	isFixed := result.Strategy == Augment && option == "fixed"
	var text string
	all := []string{string(Augment), string(Stash), string(Drop)}
	switch {
	case !slices.Contains(all, strategy):
		text = fmt.Sprintf("there is no strategy %q%s", strategy, nearest.Suggestion(strategy, all))
	case hasOption && option != "reason" && !isFixed:
		text = fmt.Sprintf("the marker +%s has the argument %q, which it does not know", marker.Name, rest)
	case result.Strategy == Drop && result.Reason == "":
		text = "dropping a field loses what users wrote, and no reason is given"
	case isFixed && result.Reason == "":
		text = "the hook fills the field even if there is no value, and no reason is given"
	default:
		result.Fixed = isFixed
		return result
	}
	problems.Add(problem.Problem{Code: problem.BadMarker, Where: where, Text: text, Fix: correct(marker.Name, onField)})
	return Treatment{}
}

func enum(marker model.Marker, here place, where string, problems *problem.List) *Enum {
	result := &Enum{}
	olders := make(map[string]bool)
	for _, item := range list(marker.Value) {
		if fallback, ok := strings.CutPrefix(item, "fallback="); ok {
			result.Fallback = fallback
			continue
		}
		if item == "open" {
			result.Open = true
			continue
		}
		older, newer, ok := strings.Cut(item, ":")
		if !ok || older == "" || newer == "" || olders[older] {
			problems.Add(problem.Problem{
				Code: problem.BadMarker, Where: where,
				Text: fmt.Sprintf("the enum map has the part %q, which is no pair of an older and a newer value, or maps a value again", item),
				Fix:  correct(marker.Name, here),
			})
			continue
		}
		olders[older] = true
		result.Values = append(result.Values, EnumValue{Older: older, Newer: newer})
	}
	return result
}

func list(value string) []string {
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
