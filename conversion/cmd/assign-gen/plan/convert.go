/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// converter finds the rule for two types. Each handler looks after its own preconditions: it returns no conversion and no
// reason for types that it has nothing to say about, and a reason for those that it knows and cannot convert.
type converter struct {
	*planner
	pair      *Pair
	functions *markers.Functions
	enum      *Enum
	enumUsed  bool
	unit      string
	unitUsed  bool
	// olderField and newerField are the converted fields, unless one of them is a part of another field.
	olderField, newerField *Field
	// mismatch are the innermost types that have no conversion, if these have names.
	mismatch *mismatch
	// inside counts the lists and maps around the types, in which a pointer is not optional.
	inside int
	// reported reports whether a problem already states the reason for which there is no conversion.
	reported bool
}

type handler func(c *converter, older, newer *model.Type) (conversion *Conversion, reason string)

// handlers returns all rules in the order in which they are tried. It is a function because lists are handled by what
// they hold.
func handlers() []handler {
	return []handler{
		callFunctions,
		callTypeFunctions,
		mapEnum,
		countUnits,
		copyBasic,
		widenNumber,
		castForeign,
		copyForeign,
		callPair,
		through(model.Pointer, OfPointer),
		through(model.Slice, OfSlice),
		throughArray,
		throughMap,
		throughKeys,
	}
}

// convert returns the conversion, or the reason for which none exists.
func (c *converter) convert(older, newer *model.Type) (conversion *Conversion, reason string) {
	for _, try := range handlers() {
		if conversion, reason = try(c, older, newer); conversion != nil || reason != "" {
			return conversion, reason
		}
	}
	c.noteMismatch(older, newer)
	from, to := older.String(), newer.String()
	if c.inside == 0 {
		from, to = describe(older), describe(newer)
	}
	return nil, fmt.Sprintf("no conversion from %s to %s", from, to)
}

// callFunctions handles a field with the marker with, whatever it holds.
func callFunctions(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if c.functions == nil {
		return nil, ""
	}
	return &Conversion{Rule: ByFunctions, Older: older, Newer: newer, Functions: c.functions}, ""
}

// mapEnum handles the strings of a field with the marker enum, or the bools that become strings.
func mapEnum(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if c.enum == nil || (!isString(older) && !isBool(older)) || (!isString(newer) && !isBool(newer)) || (isBool(older) && isBool(newer)) {
		return nil, ""
	}
	c.enumUsed = true
	return &Conversion{Rule: MapEnum, Older: older, Newer: newer, Enum: c.enum}, ""
}

// copyBasic handles builtin types, which names of ours have become by now.
func copyBasic(_ *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if older.Kind != model.Basic || !older.Same(newer) {
		return nil, ""
	}
	return &Conversion{Rule: Copy, Older: older, Newer: newer}, ""
}

// numbers are the kinds of numbers, each from the narrowest to the widest. An int is 64 bits wide on what operators run on.
var numbers = [][]string{
	signed:   {"int8", "int16", "int32", "int64", "int"},
	unsigned: {"uint8", "uint16", "uint32", "uint64", "uint"},
	floats:   {"float32", "float64"},
}

const (
	signed = iota
	unsigned
	floats
)

// widenNumber handles numbers that got more room in the newer version.
func widenNumber(_ *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if older.Kind != model.Basic || newer.Kind != model.Basic {
		return nil, ""
	}
	for _, kind := range numbers {
		from, to := slices.Index(kind, older.Name), slices.Index(kind, newer.Name)
		switch {
		case from < 0 || to < 0:
		case from < to:
			return &Conversion{Rule: Widen, Older: older, Newer: newer}, ""
		default:
			return nil, fmt.Sprintf("%s is narrower than %s", newer.Name, older.Name)
		}
	}
	return nil, fmt.Sprintf("no conversion from %s to %s", older.Name, newer.Name)
}

// castForeign handles a string, number or bool whose type has a name in another module, and one of the same kind. Such a name is exact, unless its
// type writes its JSON itself.
func castForeign(_ *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if !older.Base().Same(newer.Base()) || older.Base().Kind != model.Basic || older.Same(newer) ||
		slices.ContainsFunc(ownJSON, older.Has) || slices.ContainsFunc(ownJSON, newer.Has) {
		return nil, ""
	}
	return &Conversion{Rule: Cast, Older: older, Newer: newer}, ""
}

// copyForeign handles types of other modules, which have to be the same.
func copyForeign(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if older.Kind != model.Named || newer.Kind != model.Named || c.isOlder(older) || c.isNewer(newer) {
		return nil, ""
	}
	switch {
	case !older.Same(newer):
		c.noteMismatch(older, newer)
		return nil, fmt.Sprintf("%s and %s are different types of other packages, and what their own conversions lose is unknown", older, newer)
	case older.Has("DeepCopyInto"):
		return &Conversion{Rule: DeepCopy, Older: older, Newer: newer}, ""
	case IsForeignList(older):
		rule := OfSlice
		if older.Base().Kind == model.Map {
			rule = OfMap
		}
		elem := &Conversion{Rule: Copy, Older: older.Base().Elem, Newer: newer.Base().Elem}
		return &Conversion{Rule: rule, Older: older, Newer: newer, Elem: elem}, ""
	default:
		return &Conversion{Rule: Copy, Older: older, Newer: newer}, ""
	}
}

// callPair handles structs of the API, by the functions that are generated for them.
func callPair(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if !c.isOlder(older) || !c.isNewer(newer) {
		return nil, ""
	}
	declared := c.pair.Older.Version.Struct(older.Name)
	pairs := c.pairs[declared]
	if pair := model.Find(pairs, func(p *Pair) bool { return p.Newer.Name == newer.Name }); pair != nil {
		return &Conversion{Rule: Call, Older: older, Newer: newer, Pair: pair}, ""
	}
	if pairs == nil {
		c.reported, c.unpaired[declared] = c.unpaired[declared], true
		return nil, fmt.Sprintf("%s has no counterpart in the next version; if that is %s, mark the type +conversion:name=%s", older, newer, newer.Name)
	}
	all := strings.Join(model.Each(pairs, func(p *Pair) string { return p.Newer.Name }), ",")
	return nil, fmt.Sprintf("%s becomes %s.%s and not %s; if it becomes both, mark the type +conversion:name=%s,%s",
		older, c.pair.Newer.Version.Name, all, newer, all, newer.Name)
}

func (c *converter) isOlder(t *model.Type) bool { return isOwn(t, c.pair.Older.Version.Package.Path) }

func (c *converter) isNewer(t *model.Type) bool { return isOwn(t, c.pair.Newer.Version.Package.Path) }

// through handles pointers, or lists, by what they hold.
func through(kind model.Kind, rule Rule) handler {
	return func(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
		return c.through(kind, rule, older, newer)
	}
}

func throughArray(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	if older.Kind == model.Array && newer.Kind == model.Array && older.Len != newer.Len {
		return nil, fmt.Sprintf("an array of %d becomes one of %d", older.Len, newer.Len)
	}
	return c.through(model.Array, OfArray, older, newer)
}

func throughMap(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	writesItself := func(key *model.Type) bool { return slices.ContainsFunc(ownJSON, key.Has) }
	if older.Kind == model.Map && newer.Kind == model.Map && !older.Key.Same(newer.Key) &&
		(!older.Key.Base().Same(newer.Key.Base()) || writesItself(older.Key) || writesItself(newer.Key)) {
		return nil, fmt.Sprintf("the keys are %s and %s", older.Key, newer.Key)
	}
	return c.through(model.Map, OfMap, older, newer)
}

func (c *converter) through(kind model.Kind, rule Rule, older, newer *model.Type) (conversion *Conversion, reason string) {
	if older.Kind != kind || newer.Kind != kind {
		return nil, ""
	}
	if kind != model.Pointer {
		c.inside++
		defer func() { c.inside-- }()
	}
	elem, reason := c.convert(older.Elem, newer.Elem)
	if elem == nil {
		return nil, reason
	}
	return &Conversion{Rule: rule, Older: older, Newer: newer, Elem: elem}, ""
}

func isBool(t *model.Type) bool { return t.Kind == model.Basic && t.Name == "bool" }

func isString(t *model.Type) bool { return t.Kind == model.Basic && t.Name == "string" }

// describe names a type in the words of messages.
func describe(t *model.Type) string {
	switch t.Kind {
	case model.Pointer:
		return describe(t.Elem) // in storage types everything can be absent
	case model.Slice:
		return "slice"
	case model.Array:
		return "array"
	case model.Map:
		return "map"
	default:
		return t.String()
	}
}

// countUnits handles durations that are whole numbers of a unit in the other version.
func countUnits(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	rule := ToDuration
	switch {
	case isInteger(older) && isDuration(newer):
	case isDuration(older) && isInteger(newer):
		rule = FromDuration
	default:
		return nil, ""
	}
	if c.unit == "" {
		return nil, "a duration and a number need a unit, such as +conversion:unit=seconds"
	}
	c.unitUsed = true
	return &Conversion{Rule: rule, Older: older, Newer: newer, Unit: c.unit}, ""
}

func isDuration(t *model.Type) bool {
	return t.Kind == model.Named && t.Package == metaPackage && t.Name == "Duration"
}

func isInteger(t *model.Type) bool {
	return t.Kind == model.Basic && (slices.Contains(numbers[signed], t.Name) || slices.Contains(numbers[unsigned], t.Name))
}
