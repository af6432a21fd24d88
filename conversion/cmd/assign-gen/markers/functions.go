/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

import (
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/nearest"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// metadataOption passes the metadata of the object to hand-written code.
const metadataOption = "metadata"

// metadata is the one word that may be the value of +conversion:augment, or nothing.
func metadata(marker model.Marker, where string, problems *problem.List) bool {
	if marker.Value == "" || marker.Value == metadataOption {
		return marker.Value != ""
	}
	problems.Add(problem.Problem{
		Code: problem.BadMarker, Where: where, Text: fmt.Sprintf("the marker +%s has the argument %q, which it does not know", marker.Name, marker.Value),
		Fix: correct(marker.Name, onType),
	})
	return false
}

// isAbsent reads the one value of +conversion:zero.
func isAbsent(marker model.Marker, where string, problems *problem.List) bool {
	if marker.Value != "absent" {
		problems.Add(problem.Problem{
			Code: problem.BadMarker, Where: where, Text: fmt.Sprintf("zero cannot mean %q", marker.Value), Fix: correct(marker.Name, onField),
		})
	}
	return marker.Value == "absent"
}

// Units are the values of +conversion:unit.
var Units = []string{"nanoseconds", "microseconds", "milliseconds", "seconds", "minutes", "hours", "days"}

func unit(marker model.Marker, where string, problems *problem.List) string {
	if slices.Contains(Units, marker.Value) {
		return marker.Value
	}
	problems.Add(problem.Problem{
		Code: problem.BadMarker, Where: where, Text: fmt.Sprintf("there is no unit %q%s", marker.Value, nearest.Suggestion(marker.Value, Units)),
		Fix: "write one of " + strings.Join(Units, ", "),
	})
	return ""
}

func functions(marker model.Marker, here place, where string, problems *problem.List) *Functions {
	const names = 2
	value, reason, isFixed := strings.Cut(marker.Value, ",fixed=")
	parts := list(value)
	hasMetadata := len(parts) == names+1 && parts[names] == metadataOption
	if (len(parts) == names || hasMetadata) && token.IsIdentifier(parts[0]) && token.IsIdentifier(parts[1]) &&
		isFixed == (strings.TrimSpace(reason) != "") {
		return &Functions{Up: parts[0], Down: parts[1], Metadata: hasMetadata, Fixed: strings.TrimSpace(reason)}
	}
	problems.Add(problem.Problem{
		Code: problem.BadMarker, Where: where,
		Text: fmt.Sprintf("%q does not name two functions of the storage package, the one to the next version first", marker.Value),
		Fix:  correct(marker.Name, here),
	})
	return nil
}

// addFunctions reads functions for all values of a type of another module.
func (p *Package) addFunctions(marker model.Marker, where string, problems *problem.List) {
	name, rest, _ := strings.Cut(marker.Value, ",")
	parts := list(rest)
	folder, last := path.Split(name)
	known := p.With[name]
	if pkg, typeName, ok := strings.Cut(last, "."); ok && folder != "" && pkg != "" && token.IsExported(typeName) &&
		len(parts) == 2 && token.IsIdentifier(parts[0]) && token.IsIdentifier(parts[1]) && known == nil {
		if p.With == nil {
			p.With = make(map[string]*Functions)
		}
		p.With[name] = &Functions{Up: parts[0], Down: parts[1]}
		return
	}
	text := fmt.Sprintf("%q does not name a type with its import path and two functions of the storage package, the one to the next version first",
		marker.Value)
	if known != nil {
		text = name + " has functions already"
	}
	problems.Add(problem.Problem{Code: problem.BadMarker, Where: where, Text: text, Fix: correct(marker.Name, onPackage)})
}
