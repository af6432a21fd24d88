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
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// ParsePackage reads the markers of a package. Where is how messages name the package; problems are added to the list.
func ParsePackage(markers []model.Marker, where string, problems *problem.List) Package {
	return parse(markers, reader{here: onPackage, where: where, problems: problems}).ofPackage
}

// ParseType reads the markers of a type.
func ParseType(markers []model.Marker, where string, problems *problem.List) Type {
	return parse(markers, reader{here: onType, where: where, problems: problems}).ofType
}

// ParseField reads the markers of a field, among them those of Kubernetes that say what identifies a list's elements.
func ParseField(markers []model.Marker, where string, problems *problem.List) Field {
	r := reader{here: onField, where: where, problems: problems}
	settings := parse(markers, r).ofField
	if settings.ListMapKeys != nil {
		settings.KeyMarker = "+conversion:key"
	}
	isMap := slices.ContainsFunc(markers, func(m model.Marker) bool { return m.Name == "listType" && m.Value == "map" })
	if !isMap {
		return settings
	}
	if settings.KeyMarker != "" {
		r.badf("remove +conversion:key", "+listMapKey identifies the list's elements, so that +conversion:key has no effect")
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

// reader reads a marker of a place.
type reader struct {
	model.Marker

	// known describes the marker.
	known    definition
	here     place
	where    string
	problems *problem.List
}

func (r reader) badf(fix, format string, args ...any) {
	r.problems.Add(problem.Problem{Code: problem.BadMarker, Where: r.where, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// parse reads those markers that are ours and in order.
func parse(markers []model.Marker, r reader) (result settings) {
	seen := make(map[string]bool)
	for _, marker := range markers {
		if !ours(marker.Name) {
			continue
		}
		known, ok := define(marker.Name, r.here)
		switch {
		case !ok:
			r.unknown(marker.Name)
		case known.place != r.here:
			r.badf("move it to "+string(known.place)+", or remove it", "the marker +%s belongs to %s, not to %s", marker.Name, known.place, r.here)
		case seen[marker.Name] && known.values != repeated:
			r.badf("write it once", "the marker +%s is repeated here", marker.Name)
		case known.values == none && marker.Value != "":
			r.badf(known.correct(), "the marker +%s takes no value, and has %q", marker.Name, marker.Value)
		case known.values >= required && marker.Value == "":
			r.badf(known.correct(), "the marker +%s needs a value", marker.Name)
		default:
			seen[marker.Name] = true
			r.Marker, r.known = marker, known
			known.read(&result, r)
		}
	}
	return result
}

// unknown reports a marker that does not exist, with the one whose name after the prefix is closest.
func (r reader) unknown(name string) {
	_, word, _ := strings.Cut(name, ":")
	var words []string
	for _, each := range definitions {
		_, rest, _ := strings.Cut(each.name, ":")
		words = append(words, rest)
	}
	fix, suggestion := "the markers of "+string(r.here)+" are "+strings.Join(names(r.here), ", "), ""
	if closest, found := problem.Nearest(word, words); found {
		meant := definitions[slices.Index(words, closest)]
		suggestion = fmt.Sprintf("; did you mean %q?", meant.name)
		if meant.place == r.here {
			fix = meant.correct()
		}
	}
	r.badf(fix, "there is no marker +%s%s", name, suggestion)
}

// ours reports whether a marker is one of this generator's, or was meant to be one.
func ours(name string) bool {
	prefix, _, ok := strings.Cut(name, ":")
	if !ok {
		return slices.Contains(prefixes, name)
	}
	_, found := problem.Nearest(prefix, prefixes)
	return found
}

func (r reader) treatment() Treatment {
	strategy, rest, hasOption := strings.Cut(r.Value, ",")
	option, reason, _ := strings.Cut(rest, "=")
	result := Treatment{Strategy: Strategy(strategy), Reason: strings.TrimSpace(reason)}
	isFixed := result.Strategy == Augment && option == "fixed"
	var text string
	all := []string{string(Augment), string(Stash), string(Drop)}
	switch {
	case !slices.Contains(all, strategy):
		text = fmt.Sprintf("there is no strategy %q%s", strategy, problem.Suggestion(strategy, all))
	case hasOption && option != "reason" && !isFixed:
		text = fmt.Sprintf("the marker +%s has the argument %q, which it does not know", r.Name, rest)
	case result.Strategy == Drop && result.Reason == "":
		text = "dropping a field loses what users wrote, and no reason is given"
	case isFixed && result.Reason == "":
		text = "the hook fills the field even if there is no value, and no reason is given"
	default:
		result.Fixed = isFixed
		return result
	}
	r.badf(r.known.correct(), "%s", text)
	return Treatment{}
}

func (r reader) enum() *Enum {
	result := &Enum{}
	olders := make(map[string]bool)
	for _, item := range list(r.Value) {
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
			r.badf(r.known.correct(), "the enum map has the part %q, which is no pair of an older and a newer value, or maps a value again", item)
			continue
		}
		olders[older] = true
		result.Values = append(result.Values, EnumValue{Older: older, Newer: newer})
	}
	return result
}

// skipped are the versions that +conversion:skip names, or all if it names no version.
func (r reader) skipped() (all bool, some []string) {
	some = list(r.Value)
	return len(some) == 0, some
}

// paths are the paths of field names of +conversion:rename.
func (r reader) paths() (paths [][]string) {
	for path := range strings.SplitSeq(r.Value, ",") {
		paths = append(paths, strings.Split(path, "."))
	}
	return paths
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
