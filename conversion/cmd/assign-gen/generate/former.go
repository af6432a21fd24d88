/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/format"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"text/template"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// formerDir is the folder of the packages with former conversions, and formerTest the file of the test that compares them.
const formerDir, formerTest = "former", "former_test.go"

type former struct {
	sources map[*model.Package]*sourcePackage
	// path is the import path above the copies.
	path  string
	pairs []*formerPair
}

// formerPair are two versions, one of which converts its kinds to the other one and from it.
type formerPair struct {
	Older, Newer, converter *model.Package
	Kinds                   []formerKind
}

// formerKind has the expressions for both ways.
type formerKind struct{ Name, Up, Down string }

func newFormer(versions []*model.Package, sources map[*model.Package]*sourcePackage, path string) *former {
	f := &former{sources: sources, path: path}
	for i, older := range versions {
		for _, newer := range versions[i+1:] {
			pair := &formerPair{Older: older, Newer: newer, converter: older}
			if !slices.Contains(sources[older].imports, newer.Path) {
				pair.converter = newer
			}
			if slices.Contains(sources[pair.converter].imports, pair.other().Path) {
				f.pairs = append(f.pairs, pair)
			}
		}
	}
	for _, pair := range f.pairs {
		for _, each := range pair.Older.Types {
			if pair.Newer.Type(each.Name) != nil && each.Base().Field("ObjectMeta") != nil {
				f.addKind(pair, each.Name)
			}
		}
	}
	f.pairs = slices.DeleteFunc(f.pairs, func(pair *formerPair) bool { return len(pair.Kinds) == 0 })
	return f
}

func (p *formerPair) other() *model.Package {
	if p.converter == p.Older {
		return p.Newer
	}
	return p.Older
}

func (f *former) addKind(pair *formerPair, kind string) {
	converter, other := pair.converter, pair.other()
	source := f.sources[converter]
	convertTo := source.function(kind, "ConvertTo")
	generated := func(from, to *model.Package) string {
		return fmt.Sprintf("Convert_%s_%s_To_%s_%s", from.Name, kind, to.Name, kind)
	}
	there, back := generated(converter, other), generated(other, converter)
	from := func(p *model.Package) string { return fmt.Sprintf("from.(*%s.%s)", f.Alias(p), kind) }
	to := func(p *model.Package) string { return fmt.Sprintf("to.(*%s.%s)", f.Alias(p), kind) }
	switch {
	case convertTo != nil:
		const knative = 2 // ConvertTo has a context
		ctx := ""
		if convertTo.Type.Params.NumFields() == knative {
			ctx = "ctx, "
		}
		there = fmt.Sprintf("%s.ConvertTo(%s%s)", from(converter), ctx, to(other))
		back = fmt.Sprintf("%s.ConvertFrom(%s%s)", to(converter), ctx, from(other))
	case source.function("", there) != nil && source.function("", back) != nil:
		there = fmt.Sprintf("%s.%s(%s, %s, nil)", f.Alias(converter), there, from(converter), to(other))
		back = fmt.Sprintf("%s.%s(%s, %s, nil)", f.Alias(converter), back, from(other), to(converter))
	default:
		return
	}
	if converter == pair.Newer {
		there, back = back, there
	}
	pair.Kinds = append(pair.Kinds, formerKind{Name: kind, Up: there, Down: back})
}

func (f *former) kinds() int {
	count := 0
	for _, each := range f.pairs {
		count += len(each.Kinds)
	}
	return count
}

// copied reports whether a package has conversions, so that there is a copy.
func (f *former) copied(p *model.Package) bool {
	return slices.ContainsFunc(f.pairs, func(pair *formerPair) bool { return pair.converter == p })
}

// Alias is the name of the package with the types that former conversions take.
func (f *former) Alias(p *model.Package) string {
	if f.copied(p) {
		return formerDir + p.Name
	}
	return p.Name
}

// Imports are the lines of the test that import these packages.
func (f *former) Imports() []string {
	var lines []string
	for _, pair := range f.pairs {
		for _, each := range []*model.Package{pair.Older, pair.Newer} {
			path := each.Path
			if f.copied(each) {
				path = f.path + "/" + filepath.Base(each.Dir)
			}
			lines = append(lines, f.Alias(each)+" "+strconv.Quote(path))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// markerLines begin with a plus sign. Generators must not take the copies for APIs.
var markerLines = regexp.MustCompile(`(?m)^(\s*//\s*)\+`)

// copies are the files of the packages with conversions, which import each other's copies.
func (f *former) copies(folder string) []generators.File {
	var files []generators.File
	for p, source := range f.sources {
		if !f.copied(p) {
			continue
		}
		for _, file := range source.files {
			content := file.content
			for other := range f.sources {
				if f.copied(other) {
					content = bytes.ReplaceAll(content, []byte(strconv.Quote(other.Path)), []byte(strconv.Quote(f.path+"/"+filepath.Base(other.Dir))))
				}
			}
			content = markerLines.ReplaceAll(content, []byte("$1"))
			files = append(files, generators.File{Path: filepath.Join(folder, filepath.Base(p.Dir), filepath.Base(file.path)), Content: content})
		}
	}
	return files
}

//go:embed former.go.tmpl
var formerText string

var formerTemplate = template.Must(template.New("").Parse(formerText))

func (f *former) test(header, pkg string) ([]byte, error) {
	var text bytes.Buffer
	err := formerTemplate.Execute(&text, map[string]any{"Header": header, "Package": pkg, "Former": f, "Pairs": f.pairs})
	content, invalid := format.Source(text.Bytes())
	if err = errors.Join(err, invalid); err != nil {
		return nil, fmt.Errorf("writing the test with the former conversions: %w", err)
	}
	return content, nil
}
