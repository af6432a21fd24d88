/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// metadataOption passes the metadata of the object to hand-written code.
const metadataOption = "metadata"

// metadata is the one word that may be the value of +conversion:augment, or nothing.
func (r reader) metadata() bool {
	if r.Value != "" && r.Value != metadataOption {
		r.badf(r.known.correct(), "the marker +%s has the argument %q, which it does not know", r.Name, r.Value)
	}
	return r.Value == metadataOption
}

// isAbsent reads the one value of +conversion:zero.
func (r reader) isAbsent() bool {
	if r.Value != "absent" {
		r.badf(r.known.correct(), "zero cannot mean %q", r.Value)
	}
	return r.Value == "absent"
}

// Units are the values of +conversion:unit.
var Units = []string{"nanoseconds", "microseconds", "milliseconds", "seconds", "minutes", "hours", "days"}

func (r reader) unit() string {
	if slices.Contains(Units, r.Value) {
		return r.Value
	}
	r.badf("write one of "+strings.Join(Units, ", "), "there is no unit %q%s", r.Value, problem.Suggestion(r.Value, Units))
	return ""
}

func (r reader) functions() *Functions {
	const names = 2
	value, reason, isFixed := strings.Cut(r.Value, ",fixed=")
	parts := list(value)
	hasMetadata := len(parts) == names+1 && parts[names] == metadataOption
	if (len(parts) == names || hasMetadata) && token.IsIdentifier(parts[0]) && token.IsIdentifier(parts[1]) &&
		isFixed == (strings.TrimSpace(reason) != "") {
		return &Functions{Up: parts[0], Down: parts[1], Metadata: hasMetadata, Fixed: strings.TrimSpace(reason)}
	}
	r.badf(r.known.correct(), "%q does not name two functions of the storage package, the one to the next version first", r.Value)
	return nil
}

// addFunctions reads functions for all values of a type of another module.
func (r reader) addFunctions(p *Package) {
	name, rest, _ := strings.Cut(r.Value, ",")
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
	if known != nil {
		r.badf(r.known.correct(), "%s has functions already", name)
		return
	}
	r.badf(r.known.correct(),
		"%q does not name a type with its import path and two functions of the storage package, the one to the next version first", r.Value)
}
