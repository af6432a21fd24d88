/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// PropertyBag holds the properties of one struct that the version at hand has no field for. Each storage type has one.
// Keys are "<version>/<jsonName>", where the version is the one that has the field; generated code has constants for them.
// Entries with other keys are carried along untouched: a later release wrote them and will want them back.
//
// While converting, the bag is always that of the destination: dst.PropertyBag in AssignPropertiesTo, the receiver's in
// AssignPropertiesFrom. The source is never changed.
//
// A nil bag is an empty one.
//
//nolint:recvcheck // a map can be copied and looked at by value; what may have to make the map needs its address
type PropertyBag map[string]Entry

// Entry is one property. It cannot be changed, so that bags may share it. Its zero value is no entry.
type Entry struct{ form entryForm }

type entryForm struct {
	// Basis is the fingerprint of what the property was derived from, if it was.
	Basis string `json:"b,omitempty"`
	// Data is not null, and never changed.
	Data json.RawMessage `json:"d"`
}

// Match is the result of comparing the basis of a derived property.
type Match int

const (
	// None means that there is no such property.
	None Match = iota
	// Exact means that the basis is unchanged, so the property still holds.
	Exact
	// Stale means that the basis has changed since. A hook may still make use of parts of the property.
	Stale
)

// Clone is a bag of the same entries.
func (b PropertyBag) Clone() PropertyBag { return maps.Clone(b) }

// OrNil is the bag, or nil if it is empty.
func (b PropertyBag) OrNil() PropertyBag {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Put stashes a property. One that is nil, or null as JSON, is removed instead. It fails only for what encoding/json cannot
// marshal, and then the bag is unchanged.
func (b *PropertyBag) Put(key string, value any) error {
	return b.put(key, value, "")
}

// PutDerived stashes the part of a property that the basis does not show, such as the nanoseconds of a duration that is
// shown in seconds. TakeDerived reports whether the basis is still the same.
func (b *PropertyBag) PutDerived(key string, value, basis any) error {
	return b.put(key, value, Fingerprint(basis))
}

func (b *PropertyBag) put(key string, value any, basis string) error {
	data, err := Canonical(value)
	if err != nil {
		return fmt.Errorf("stashing %s: %w", key, err)
	}
	if string(data) == "null" {
		b.Remove(key)
		return nil
	}
	if *b == nil {
		*b = PropertyBag{}
	}
	(*b)[key] = Entry{entryForm{Basis: basis, Data: data}}
	return nil
}

// Take moves a property out of the bag into what out points to, and reports whether there was one. One that does not fit into out is
// dropped and counted, and out is left as it is.
func (b *PropertyBag) Take(key string, out any) (found bool) {
	entry := (*b)[key]
	b.Remove(key)
	if entry.isNone() {
		return false
	}
	if !entry.decode(out) {
		countDropped(partEntry)
		return false
	}
	return true
}

// TakeDerived is Take for what PutDerived stashed. When the property is Stale, out is set all the same.
func (b *PropertyBag) TakeDerived(key string, basis, out any) Match {
	stashed := (*b)[key].form.Basis
	switch {
	case !b.Take(key, out):
		return None
	case stashed != "" && stashed == Fingerprint(basis):
		return Exact
	default:
		return Stale
	}
}

// Adopt is for a property that an earlier release stashed with Put, and of which a field shows a part now. The property holds good, for a
// TakeDerived that follows, if that field is nil; otherwise Adopt removes it. Adopt leaves alone what PutDerived stashed.
func (b *PropertyBag) Adopt(key string, basis any) {
	entry, ok := (*b)[key]
	switch {
	case !ok || entry.form.Basis != "":
	case Fingerprint(basis) == Fingerprint(nil):
		(*b)[key] = Entry{entryForm{Basis: Fingerprint(nil), Data: entry.form.Data}}
	default:
		b.Remove(key)
	}
}

// Remove takes a property out of the bag.
func (b *PropertyBag) Remove(key string) { delete(*b, key) }

// MarshalJSON implements json.Marshaler. A storage struct that the next version knows nothing of is stashed as a whole, and
// its bag with it, so bags have the same form in there as in the annotation.
func (b PropertyBag) MarshalJSON() ([]byte, error) {
	forms := make(map[string]entryForm, len(b))
	for key, entry := range b {
		if !entry.isNone() {
			forms[key] = entry.form
		}
	}
	return marshal(forms)
}

// UnmarshalJSON implements json.Unmarshaler. Malformed entries are dropped and counted; it never fails.
func (b *PropertyBag) UnmarshalJSON(data []byte) error {
	var entries map[string]map[string]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil && entries == nil {
		countDropped(partEntry)
	}
	bag := make(PropertyBag, len(entries))
	for key, members := range entries { // an entry that is no object has no members
		if entry, ok := parseEntry(members); ok {
			bag[key] = entry
		} else {
			countDropped(partEntry)
		}
	}
	*b = bag.OrNil()
	return nil
}

// parseEntry reads an entry of entryForm. Nesting bounds what a later Take has to decode.
func parseEntry(members map[string]json.RawMessage) (entry Entry, ok bool) {
	for name, value := range members {
		switch name {
		case "d":
			entry.form.Data = value
		case "b":
			if json.Unmarshal(value, &entry.form.Basis) != nil {
				return Entry{}, false
			}
		default:
			return Entry{}, false
		}
	}
	return entry, !entry.isNone() && !isTooDeep(entry.form.Data)
}

func (e Entry) isNone() bool { return len(e.form.Data) == 0 || string(e.form.Data) == "null" }

// decode sets what out points to, or leaves it as it is if the data does not fit.
func (e Entry) decode(out any) bool {
	into := reflect.ValueOf(out).Elem()
	value := reflect.New(into.Type())
	if json.Unmarshal(e.form.Data, value.Interface()) != nil {
		return false
	}
	into.Set(value.Elem())
	return true
}

func isRetired(key string, versions []string) bool {
	version, _, ok := strings.Cut(key, "/")
	return ok && slices.Contains(versions, version)
}
