/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// write returns the files of a package with the declarations that are kept, by name. The paths of imports are translated.
func (e *extractor) write(s *source, markers map[string][]string, translate func(path string) string) (map[string]string, error) {
	added := newMarkers(markers)
	written := make(map[string]string)
	for _, in := range s.files {
		var kept []*unit
		for each := range e.kept {
			if each.file == in {
				kept = append(kept, each)
			}
		}
		if len(kept) == 0 {
			continue
		}
		slices.SortFunc(kept, func(a, b *unit) int { return int(a.node.Pos() - b.node.Pos()) })
		var text bytes.Buffer
		fmt.Fprintf(&text, "package %s\n\n%s", s.checked.Name(), imports(kept, translate))
		for _, each := range kept {
			each.write(&text, added)
		}
		written[in.name] = text.String()
	}
	return written, added.unused(s.path)
}

// imports writes the imports of the packages that declarations use.
func imports(units []*unit, translate func(path string) string) string {
	used := make(map[string]bool)
	for _, each := range units {
		ast.Inspect(each.node, func(node ast.Node) bool {
			if identifier, ok := node.(*ast.Ident); ok {
				if name, ok := each.source.info.Uses[identifier].(*types.PkgName); ok {
					used["import "+name.Name()+" "+strconv.Quote(translate(name.Imported().Path()))+"\n"] = true
				}
			}
			return true
		})
	}
	if len(used) == 0 {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(used)), "") + "\n"
}

// write copies a declaration, with markers above the type and its fields.
func (u *unit) write(to *bytes.Buffer, added *markers) {
	start := u.node.Pos()
	if u.doc != nil {
		to.Write(u.text(u.doc.Pos(), u.doc.End()))
		to.WriteByte('\n')
	}
	insert := func(at token.Pos, lines []string) {
		to.Write(u.text(start, at))
		for _, line := range lines {
			fmt.Fprintf(to, "// +%s\n", line)
		}
		start = at
	}
	spec := u.spec()
	if spec != nil {
		insert(start, added.take(spec.Name.Name))
	}
	to.WriteString(u.keyword)
	if spec != nil {
		if structure, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range structure.Fields.List {
				for _, name := range fieldNames(field) {
					insert(field.Pos(), added.take(spec.Name.Name+"."+name))
				}
			}
		}
	}
	to.Write(u.text(start, u.node.End()))
	to.WriteString("\n\n")
}

// spec is the declaration of a type, or nil.
func (u *unit) spec() *ast.TypeSpec {
	if group, ok := u.node.(*ast.GenDecl); ok && group.Tok == token.TYPE {
		return group.Specs[0].(*ast.TypeSpec)
	}
	spec, _ := u.node.(*ast.TypeSpec)
	return spec
}

// text is a part of the file.
func (u *unit) text(from, to token.Pos) []byte {
	return u.file.content[from-u.file.base : to-u.file.base]
}

// fieldNames are the names of the fields that a line of a struct declares.
func fieldNames(field *ast.Field) []string {
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	if names != nil {
		return names
	}
	embedded := field.Type
	for {
		switch t := embedded.(type) {
		case *ast.StarExpr:
			embedded = t.X
		case *ast.SelectorExpr:
			embedded = t.Sel
		case *ast.Ident:
			return []string{t.Name}
		default:
			return nil
		}
	}
}

// packageMarkers are the markers of the package itself, which are in doc.go.
const packageMarkers = "package"

// markers are the markers of a version, by Type or Type.Field.
type markers struct {
	all   map[string][]string
	taken map[string]bool
}

func newMarkers(all map[string][]string) *markers {
	return &markers{all: all, taken: map[string]bool{packageMarkers: true}}
}

func (m *markers) take(name string) []string {
	m.taken[name] = true
	return m.all[name]
}

// unused reports markers of types and fields that do not exist.
func (m *markers) unused(path string) error {
	var missing []string
	for name := range m.all {
		if !m.taken[name] {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("markers of package %s: %s are no types or fields that a kind leads to", path, strings.Join(missing, ", "))
}
