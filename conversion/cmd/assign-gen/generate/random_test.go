/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
)

// randomAPI is an API of two versions with random types. Its names are few, so that they collide when code puts them together.
type randomAPI struct{ older, newer []*randomStruct }

type randomStruct struct {
	// next is the name of the type in the next version.
	name, next string
	fields     []randomField
}

type randomField struct {
	markers []string
	// typ has a verb for the name of a struct that the field holds.
	name, typ, json string
	// next is the name of the field in the next version. It is empty for a field of one version, and for one that markers move.
	next string
	// ofOther is the index of the struct that the field holds, or negative.
	ofOther int
}

var (
	typeNames  = []string{"A", "AB", "ABC", "B", "Value"}
	fieldNames = []string{"A", "B", "C", "BC", "CA", "Next"}
	plainTypes = []string{
		"string", "*string", "bool", "*bool", "int32", "*int32", "int64", "[]string", "map[string]string", "[2]int32", "[]byte", "Mode", "*Mode",
		"[]Mode", "map[string]int64", "metav1.Time", "*metav1.Duration", "json.RawMessage", "Text", "Box", "*Box", "[][]string", "map[string][]Mode",
	}
	holders = []string{
		"%s", "*%s", "[]%s", "[]%s", "[]%s", "[]%s", "[]*%s", "map[string]%s", "map[string]*%s", "[1]%s",
		"Alias%s", "[]Alias%s", "map[string]*Alias%s", "Box%s", "*Box%s", "[]Box%s", "List%s", "*List%s",
	}
)

// makeAPI makes an API that assign-gen has to accept.
func makeAPI(random *rand.Rand) *randomAPI {
	api := &randomAPI{}
	names := slices.Clone(typeNames)
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	count := 2 + random.Intn(len(names)-1)
	before := slices.Clone(names)
	if random.Intn(2) == 0 { // types get the names of others, or new ones
		random.Shuffle(len(names), func(i, j int) { before[i], before[j] = before[j], before[i] })
	}
	for i := range count {
		older, newer := &randomStruct{name: before[i], next: names[i]}, &randomStruct{name: names[i]}
		fields := slices.Clone(fieldNames)
		random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		for _, name := range fields[:random.Intn(len(fields)+1)] {
			addField(random, older, newer, name, i, count)
		}
		exchange(random, older)
		key := randomField{name: "Name", typ: "string", json: "name", ofOther: -1}
		if rest := count - i - 1; rest > 0 && random.Intn(3) == 0 {
			// The name is that of a struct that is inlined.
			inlined := i + 1 + random.Intn(rest)
			isName := func(field randomField) bool { return field.name == before[inlined] || field.name == names[inlined] }
			if !slices.ContainsFunc(older.fields, isName) && !slices.ContainsFunc(newer.fields, isName) {
				key = randomField{typ: "%s", json: ",inline", ofOther: inlined}
			}
		}
		newer.fields = append(newer.fields, key)
		if key.ofOther >= 0 && before[key.ofOther] != names[key.ofOther] {
			key.markers = []string{"+conversion:rename=" + names[key.ofOther]}
		}
		older.fields = append(older.fields, key)
		api.older, api.newer = append(api.older, older), append(api.newer, newer)
	}
	api.move(random)
	return api
}

// addField adds a field to one or both versions of a struct, which holds structs that come later in the list.
func addField(random *rand.Rand, older, newer *randomStruct, name string, at, count int) {
	field := randomField{name: name, typ: plainTypes[random.Intn(len(plainTypes))], json: strings.ToLower(older.name + "_" + name), ofOther: -1}
	if rest := count - at - 1; rest > 0 && random.Intn(3) > 0 {
		field.ofOther = at + 1 + random.Intn(rest)
		field.typ = holders[random.Intn(len(holders))]
		if strings.HasPrefix(field.typ, "[]") && !strings.Contains(field.typ, "Box") && random.Intn(4) > 0 {
			field.markers = []string{"+listType=map", "+listMapKey=name"} // each struct has a name, or inlines one that has
		}
	}
	if random.Intn(2) == 0 {
		field.json += ",omitempty"
	}
	before := field
	before.next = name
	switch random.Intn(8) {
	case 0:
		newer.fields = append(newer.fields, field)
		return
	case 1:
		older.fields = append(older.fields, field)
		return
	case 2:
		before.json, _, _ = strings.Cut(field.json, ",")
	case 3:
		before.typ = otherForm(field.typ)
	case 4:
		before.name, before.json = "Old"+name, "old"+field.json
	case 5:
		if field.ofOther < 0 {
			before.typ, field.typ, before.markers = "string", "string", []string{"+conversion:enum=Small:" + name + ",fallback=Small"}
		}
	}
	older.fields, newer.fields = append(older.fields, before), append(newer.fields, field)
}

// exchange gives fields of the older version names of others.
func exchange(random *rand.Rand, older *randomStruct) {
	if random.Intn(2) == 0 {
		return
	}
	var at []int
	for i, field := range older.fields {
		if field.next != "" {
			at = append(at, i)
		}
	}
	withJSON := random.Intn(2) == 0
	random.Shuffle(len(at), func(i, j int) {
		a, b := &older.fields[at[i]], &older.fields[at[j]]
		a.name, b.name = b.name, a.name
		if withJSON {
			a.json, b.json = b.json, a.json
		}
	})
}

// otherForm is a type that converts to another one: a pointer to it or its value, or a narrower number.
func otherForm(t string) string {
	switch value, isPointer := strings.CutPrefix(t, "*"); {
	case isPointer:
		return value
	case t == "int64":
		return "int32"
	case slices.Contains(plainTypes, "*"+t):
		return "*" + t
	default:
		return t
	}
}

// move flattens a struct of the older version, or moves fields into a struct of the newer one.
func (a *randomAPI) move(random *rand.Rand) {
	for i, each := range a.older {
		for at, field := range each.fields {
			if field.next == "" || strings.TrimPrefix(field.typ, "*") != "%s" || random.Intn(2) == 0 {
				continue
			}
			moved := randomField{name: field.name + "M", typ: "int64", json: strings.ToLower(field.name) + "m", ofOther: -1}
			before := moved
			if random.Intn(2) == 0 {
				before.typ = "int32"
			}
			if i == 0 && random.Intn(2) == 0 && field.markers == nil {
				// The field is in a separate struct, which is flattened. The next version has a struct of its name with another field of it.
				// The path of that field is the same in both versions.
				stays := randomField{name: "Stays", typ: "int64", json: "stays", ofOther: -1}
				newFlat := &randomStruct{name: "Flat" + field.name, fields: []randomField{stays}}
				stays.typ, stays.markers = before.typ, []string{"+conversion:rename=" + newFlat.name + ".Stays"}
				flat := &randomStruct{name: newFlat.name, fields: []randomField{before, stays}}
				a.older = append(a.older, flat)
				each.fields = append(each.fields, randomField{
					name: flat.name, typ: "%s", json: strings.ToLower(flat.name), ofOther: len(a.older) - 1, markers: []string{"+conversion:flatten"},
				})
				a.newer[i].fields = append(a.newer[i].fields, moved, randomField{
					name: flat.name, typ: "%s", json: strings.ToLower(flat.name), ofOther: len(a.newer),
				})
				a.newer = append(a.newer, newFlat)
				continue
			}
			inner := a.newer[field.ofOther]
			into := slices.IndexFunc(a.newer[i].fields, func(f randomField) bool { return f.name == field.next && f.typ == field.typ })
			if into < 0 || field.markers != nil || slices.ContainsFunc(inner.fields, func(f randomField) bool { return f.name == moved.name }) {
				continue
			}
			before.name, before.json, before.markers = "To"+moved.name+strconv.Itoa(at), "to"+moved.json+strconv.Itoa(at), []string{"+conversion:rename=" + field.next + "." + moved.name}
			each.fields = append(each.fields, before)
			inner.fields = append(inner.fields, moved)
		}
	}
}

// source is the file of a version.
func source(pkg string, structs []*randomStruct) string {
	var text strings.Builder
	fmt.Fprintf(&text, `package %s

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ json.RawMessage

type Kind struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`

	Spec %s `+"`json:\"spec\"`"+`
}

type Mode string

const (
	On  Mode = "On"
	Off Mode = "Off"
)

type Text = string

type Generic[T any] struct {
	Content T `+"`json:\"content\"`"+`
}

type Keyed[T any] struct {
	// +listType=map
	// +listMapKey=name
	Items []T `+"`json:\"items,omitempty\"`"+`
	First *T  `+"`json:\"first,omitempty\"`"+`
}

type Box Generic[[]string]
`, pkg, structs[0].name)
	used := make(map[string]bool)
	for _, each := range structs {
		var fields strings.Builder
		for _, field := range each.fields {
			for _, marker := range field.allMarkers() {
				fmt.Fprintf(&fields, "\t// %s\n", marker)
			}
			t := field.typ
			if field.ofOther >= 0 {
				t = fmt.Sprintf(t, structs[field.ofOther].name)
			}
			used[strings.TrimLeft(t, "[]1*mapstring")] = true
			fmt.Fprintf(&fields, "\t%s %s `json:%q`\n", field.name, t, field.json)
		}
		structure := "struct {\n" + fields.String() + "}"
		if len(each.fields) == 1 && !strings.Contains(structure, "//") {
			structure = "struct{ " + strings.TrimSpace(fields.String()) + " }"
		}
		each.declare(&text, "", structure)
	}
	for _, each := range structs {
		fmt.Fprintf(&text, "\ntype Alias%[1]s = %[1]s\n", each.name)
		for _, generic := range [][2]string{{"Box", "Generic"}, {"List", "Keyed"}} {
			if used[generic[0]+each.name] {
				each.declare(&text, generic[0], generic[1]+"["+each.name+"]")
			}
		}
	}
	return text.String()
}

// declare writes a type that is made of a struct, with a marker above it if it has another name in the next version.
func (s *randomStruct) declare(text *strings.Builder, prefix, as string) {
	text.WriteString("\n")
	if s.next != "" && s.next != s.name {
		fmt.Fprintf(text, "// +conversion:name=%s%s\n", prefix, s.next)
	}
	fmt.Fprintf(text, "type %s%s %s\n", prefix, s.name, as)
}

func (f randomField) allMarkers() []string {
	if f.next != "" && f.next != f.name {
		return append([]string{"+conversion:rename=" + f.next}, f.markers...)
	}
	return f.markers
}

// shrunk returns an API with fewer fields that is faulty as well. It tries to leave out each field, then all of those without which the API stays
// faulty, or else the first of them.
func (a *randomAPI) shrunk(areFaulty func(...*randomAPI) []bool) *randomAPI {
	const rounds = 12
	small := a
	for range rounds {
		var candidates []*randomAPI
		for at := range small.size() {
			candidates = append(candidates, small.without(at))
		}
		if candidates == nil {
			break
		}
		var needless []int
		for at, faulty := range areFaulty(candidates...) {
			if faulty {
				needless = append(needless, at)
			}
		}
		if needless == nil {
			break
		}
		if all := small.without(needless...); areFaulty(all)[0] {
			small = all
		} else {
			small = small.without(needless[0])
		}
	}
	return small
}

func (a *randomAPI) size() int {
	size := 0
	for _, each := range slices.Concat(a.older, a.newer) {
		size += len(each.fields)
	}
	return size
}

// without is the API without some of its fields.
func (a *randomAPI) without(fields ...int) *randomAPI {
	at := 0
	copied := func(all []*randomStruct) []*randomStruct {
		var result []*randomStruct
		for _, each := range all {
			inner := &randomStruct{name: each.name, next: each.next}
			for _, field := range each.fields {
				if !slices.Contains(fields, at) {
					inner.fields = append(inner.fields, field)
				}
				at++
			}
			result = append(result, inner)
		}
		return result
	}
	return &randomAPI{older: copied(a.older), newer: copied(a.newer)}
}
