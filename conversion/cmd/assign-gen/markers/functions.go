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

// units are the values of +conversion:unit.
var units = []string{"nanoseconds", "microseconds", "milliseconds", "seconds", "minutes", "hours", "days"}

// oneOf returns the value if the marker knows it, and reports it otherwise.
func (r reader) oneOf(known ...string) string {
	if slices.Contains(known, r.Value) {
		return r.Value
	}
	r.badf(r.known.correct(), "the marker +%s has the value %q, which it does not know%s", r.Name, r.Value, problem.Suggestion(r.Value, known))
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
