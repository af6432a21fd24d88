/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

const (
	// MaxLines is the length from which on a file is divided. Longer ones are hard to review.
	MaxLines = 2000
	// importLines is more than the package clause and the imports of a file take.
	importLines = 40
)

// section is a part of a package's code that may be in a separate file.
type section struct {
	// owner is the struct whose code it is, nil for code of the package.
	owner *plan.Struct
	print func(p *printer)
}

// name is that of the struct, or nothing.
func (s section) name() string {
	if s.owner == nil {
		return ""
	}
	return s.owner.Name
}

// kind is the kind that alone uses the section, in lower case, or nothing if there are several.
func (s section) kind() string {
	if s.owner == nil {
		return ""
	}
	kinds := s.owner.Kinds()
	if len(kinds) != 1 {
		return ""
	}
	return strings.ToLower(kinds[0])
}

// part is one of the files that a package's code is divided into.
type part struct {
	name     string
	sections []section
	lines    int
}

func (p *part) print(to *printer) {
	for _, each := range p.sections {
		each.print(to)
	}
}

// divide has all sections be in the file of the name, in their order, if that has no more lines than allowed. Otherwise those of each kind
// are in files NAME.KIND.go, and those that kinds share in the file of the name. Of what is still too long the rest is in files
// NAME.KIND.2.go and so on. Only a single section may be longer.
func divide(name string, sections []section, allowed int, measure func(section) int) []*part {
	whole := &part{name: name, sections: sections}
	for _, each := range sections {
		whole.lines += measure(each)
	}
	if whole.lines <= allowed {
		return []*part{whole}
	}
	sections = slices.DeleteFunc(slices.Clone(sections), func(s section) bool { return measure(s) == 0 })
	slices.SortStableFunc(sections, func(a, b section) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.name(), b.name()))
	})
	var parts []*part
	base, kind, number := strings.TrimSuffix(name, ".go"), "", 0
	for _, each := range sections {
		lines := measure(each)
		switch last := len(parts) - 1; {
		case last < 0 || each.kind() != kind:
			kind, number = each.kind(), 1
		case parts[last].lines+lines > allowed:
			number++
		default:
			parts[last].sections, parts[last].lines = append(parts[last].sections, each), parts[last].lines+lines
			continue
		}
		parts = append(parts, &part{name: partName(base, kind, number), sections: []section{each}, lines: lines})
	}
	return parts
}

func partName(base, kind string, number int) string {
	if kind != "" {
		base += "." + kind
	}
	if number > 1 {
		base += fmt.Sprintf(".%d", number)
	}
	return base + ".go"
}

// length returns the number of lines of a section in a package, before gofmt, which adds none.
func length(all *plan.Plan, pkg string) func(section) int {
	return func(s section) int {
		p := newPrinter(pkg, all.Versions)
		s.print(p)
		return bytes.Count(p.Bytes(), []byte("\n"))
	}
}
