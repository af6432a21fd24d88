/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

const randfillPackage = "sigs.k8s.io/randfill"

// storageTests prints, for the storage types of a version, the round trips to the next version and the search for hooks
// that are never called.
func storageTests(p *printer, link *plan.Link) {
	p.fillers(func() { p.functions(link) })
	for _, pair := range link.Pairs {
		newer := p.name(link.Newer.StoragePath(), pair.Newer.Name)
		p.linef("func TestAssignPropertiesOf%s(t *%s) {", pairName(pair), p.name("testing", "T"))
		p.linef("%s[%s, %s]{", p.name(testPackage, "Link"), pair.Older.Name, newer)
		p.linkFunction("Up", pair, newer, "AssignProperties_To_"+pair.Newer.Name)
		p.linkFunction("Down", pair, newer, "AssignProperties_From_"+pair.Newer.Name)
		p.linef("Functions: append(knownFunctions(), conversionFunctions...),")
		p.linef("}.Test(t)")
		p.end()
	}
	p.linef("func TestAugmentationsAreReachable(t *%s) {", p.name("testing", "T"))
	p.linef("%s(t,", p.name(testPackage, "Reachable"))
	for _, pair := range link.Pairs {
		p.linef("%s[%s, %s](),", p.name(testPackage, "HookOf"), pair.Older.Name, assignableName(pair))
	}
	p.linef(")")
	p.linef("}")
}

// linkFunction prints a generated function for the tests. One that takes the metadata of the object gets that of some object.
func (p *printer) linkFunction(field string, pair *plan.Pair, newer, method string) {
	if !pair.TakesMetadata() {
		p.linef("%s: (*%s).%s,", field, pair.Older.Name, method)
		return
	}
	object := fmt.Sprintf("&%s{Namespace: \"space\", Name: \"object\"}", p.name(metaPackage, "ObjectMeta"))
	p.linef("%s: func(older *%s, newer *%s) error { return older.%s(newer, %s) },", field, pair.Older.Name, newer, method, object)
}

// fillers prints the functions for randfill: those that hand-written tests add, and those that are known.
func (p *printer) fillers(known func()) {
	p.linef("// conversionFunctions are for randfill, where random values are not what a hook can convert. Hand-written tests add to")
	p.linef("// them when they are initialized.")
	p.linef("var conversionFunctions []any\n")
	p.linef("// knownFunctions give enums values that they have, and leave out what is dropped on purpose.")
	p.linef("func knownFunctions() []any {\nreturn []any{")
	known()
	p.linef("}\n}\n")
}

// functions prints what randfill has to know of the storage types: which values enums have, and which fields are dropped.
func (p *printer) functions(link *plan.Link) {
	// A struct may be in several pairs, and randfill knows one function for it.
	var order []*plan.Struct
	lines := make(map[*plan.Struct][]string)
	add := func(field *plan.Field, line string) {
		if field != nil && !slices.Contains(lines[field.Struct], line) { // nil is one of a struct of another module
			order, lines[field.Struct] = append(order, field.Struct), append(lines[field.Struct], line)
		}
	}
	for _, pair := range link.Pairs {
		order = append(order, pair.Older, pair.Newer)
		for _, each := range pair.Fields {
			switch {
			case each.Fate == plan.DroppedOlder:
				add(each.Older, "object."+each.Older.Name()+" = nil")
			case each.Fate == plan.DroppedNewer:
				add(each.Newer.Last().Field, "object."+each.Newer.Last().Name+" = nil")
			case enumOf(each) != nil:
				older, newer := enumOf(each).Values()
				add(each.Older, p.chosen(each.Older.Name(), each.Conversion.Older, older))
				add(each.Newer.Last().Field, p.chosen(each.Newer.Last().Name, each.Conversion.Newer, newer))
			}
		}
	}
	for _, each := range order {
		p.function(p.name(each.Version.StoragePath(), each.Name), lines[each])
		delete(lines, each)
	}
}

func (p *printer) function(name string, lines []string) {
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	if len(lines) == 0 {
		return
	}
	p.linef("func(object *%s, c %s) {", name, p.name(randfillPackage, "Continue"))
	p.linef("c.FillNoCustom(object)")
	p.linef("%s", strings.Join(lines, "\n"))
	p.linef("},")
}

// chosen sets a field that is an enum, or a list of enums, to values of both versions: those of the other one are wrong here.
func (p *printer) chosen(name string, t *model.Type, known []string) string {
	values := quotedAll(known)
	switch {
	case t.Elem.Name == "bool":
		return "" // no other values
	case t.Kind == model.Pointer && t.Elem.Kind == model.Basic:
		return fmt.Sprintf("object.%s = %s(c, %s)", name, p.name(testPackage, "Choose"), values)
	case t.Kind == model.Slice && t.Elem.Kind == model.Basic:
		return fmt.Sprintf("object.%s = %s(c, object.%s, []string{%s})", name, p.name(testPackage, "ChooseEach"), name, values)
	default:
		return ""
	}
}

// roundTrips prints the test that takes each kind through all versions, and a benchmark of what that costs.
func roundTrips(p *printer, all *plan.Plan, report string) {
	p.fillers(func() {
		for _, version := range all.Versions {
			p.enumFunctions(version)
		}
		p.droppedFunctions(all)
	})
	p.oracle(all)
	for _, root := range all.Hub.Structs {
		if !root.Root {
			continue
		}
		p.linef("// conversionOf%s is the kind in all its versions, the oldest first.", root.Name)
		p.linef("func conversionOf%s() %s {", root.Name, p.name(testPackage, "Kind"))
		p.linef("return %s{", p.name(testPackage, "Kind"))
		p.linef("Annotation: %s,", quoted(all.Annotation))
		p.linef("Versions: []%s{", p.name(testPackage, "Version"))
		for _, version := range all.Versions {
			for _, each := range version.Structs {
				if each.Root && hubKind(all, each) == root.Name {
					object, kind := p.name(metaPackage, "Object"), p.name(version.Package.Path, each.Name)
					p.linef("{Name: %s, New: func() %s { return &%s{} }%s},", quoted(version.Name), object, kind, exceptions(all, version))
				}
			}
		}
		p.linef("},")
		p.linef("Converters: []%s{%s},", p.name(testPackage, "Converter"), p.converters(all, root.Name))
		p.linef("Functions: append(knownFunctions(), conversionFunctions...),")
		p.linef("Decided: decidedByMarkers,")
		p.linef("Values: valuesOfEnums,")
		p.linef("Report: %s,", quoted(report))
		if all.DependsOnMetadata(root) {
			p.linef("DependsOnMetadata: true,")
		}
		p.linef("}")
		p.end()
		p.linef("func TestConversionOf%s(t *%s) { conversionOf%s().Test(t) }", root.Name, p.name("testing", "T"), root.Name)
		p.linef("")
		p.linef("func BenchmarkConversionOf%s(b *%s) { conversionOf%s().Benchmark(b) }", root.Name, p.name("testing", "B"), root.Name)
		p.linef("")
	}
}

func (p *printer) enumFunctions(version *plan.Version) {
	for _, declared := range version.Package.Types {
		if values := declared.Values(); values != nil && token.IsExported(declared.Name) && !borrowed(declared) {
			p.linef("%s[%s](%s),", p.name(testPackage, "OneOf"), p.name(version.Package.Path, declared.Name), quotedAll(values))
		}
	}
}

// droppedFunctions leaves out fields that some version on the way drops.
func (p *printer) droppedFunctions(all *plan.Plan) {
	dropped := all.Dropped()
	for _, version := range all.Versions {
		for _, each := range version.Structs {
			var lines []string
			for _, field := range each.Fields {
				if dropped[field] {
					lines = append(lines, fmt.Sprintf("object.%s = *new(%s)", field.Name(), p.api(field.API.Type)))
				}
			}
			p.function(p.api(each.Declared), lines)
		}
	}
}
