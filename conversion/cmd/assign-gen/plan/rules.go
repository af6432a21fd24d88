/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Rule is the way in which a value is converted.
type Rule int

// The rules.
const (
	// Copy assigns.
	Copy Rule = iota
	// Cast converts a string, number or bool to one whose type has another name.
	Cast
	// DeepCopy calls DeepCopyInto of a type of another module.
	DeepCopy
	// Call calls the functions of a Pair.
	Call
	// OfPointer, OfSlice, OfArray and OfMap convert what is inside by Elem.
	OfPointer
	OfSlice
	OfArray
	OfMap
	// OfKeys converts the elements of a map, and of a list whose elements have its keys in the field Key, by Elem.
	OfKeys
	// Widen casts a number up, and down where it fits.
	Widen
	// MapEnum maps the values of an enum.
	MapEnum
	// ToDuration and FromDuration convert a number of units into a duration and back, in the direction of the newer version.
	ToDuration
	FromDuration
	// ByFunctions calls hand-written functions.
	ByFunctions
)

// Conversion describes the conversion of a value of the older type to the newer type and back.
type Conversion struct {
	Rule         Rule
	Older, Newer *model.Type
	Elem         *Conversion
	Pair         *Pair
	Enum         *Enum
	Functions    *markers.Functions
	Key          *Field
	// Unit is the unit of a number that stands for a duration.
	Unit string
}

// Innermost is the conversion of what pointers, lists and maps lead to.
func (c *Conversion) Innermost() *Conversion {
	for c.Elem != nil {
		c = c.Elem
	}
	return c
}

// Inexact reports whether some value would return changed, so that the original has to be kept. Structs inside do not count; they have their own bags.
func (c *Conversion) Inexact() bool {
	switch c.Innermost().Rule {
	case Widen, MapEnum, ToDuration, FromDuration, ByFunctions:
		return true
	default:
		return false
	}
}

// copiesText reports whether what is innermost is a text that stays the same.
func (c *Conversion) copiesText() bool {
	c = c.Innermost()
	return (c.Rule == Copy || c.Rule == Cast) && isString(c.Older.Base())
}

// Called returns the pair whose functions convert what is innermost, or nil.
func (c *Conversion) Called() *Pair { return c.Innermost().Pair }
