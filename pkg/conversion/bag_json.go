/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A storage struct that the next version knows nothing of is stashed as a whole, and its bag with it. Hence bags have a
// form as JSON: {"<key>":{"b":"<basis>","d":<data>}}.

// MarshalJSON implements json.Marshaler.
func (b PropertyBag) MarshalJSON() ([]byte, error) {
	return appendBag(nil, b), nil
}

// UnmarshalJSON implements json.Unmarshaler. What is malformed is dropped and counted; it never fails.
func (b *PropertyBag) UnmarshalJSON(data []byte) error {
	*b = nil
	text := strings.TrimSpace(string(data))
	if text == "null" {
		return nil
	}
	if !json.Valid(data) || text[0] != '{' {
		countDropped(whatEntry)
		return nil
	}
	for name, value := range members(text) {
		entry, ok := parseEntry(value)
		if !ok {
			countDropped(whatEntry)
			continue
		}
		if *b == nil {
			*b = PropertyBag{}
		}
		(*b)[unquoted(name)] = entry
	}
	return nil
}

// parseEntry reads {"b":…,"d":…}. Nesting bounds what a later Take has to decode.
func parseEntry(text string) (entry Entry, ok bool) {
	if text[0] != '{' {
		return Entry{}, false
	}
	for name, value := range members(text) {
		switch unquoted(name) {
		case "d":
			entry.data = value
		case "b":
			if value[0] != '"' {
				return Entry{}, false
			}
			entry.basis = unquoted(value)
		default:
			return Entry{}, false
		}
	}
	return entry, entry.data != "" && entry.data != "null" && nesting(entry.data) <= MaxNesting
}

func appendBag(to []byte, bag PropertyBag) []byte {
	to = append(to, '{')
	if len(bag) == 1 { // as most are
		for key, entry := range bag {
			to = appendEntry(to, key, entry)
		}
	} else {
		for _, key := range slices.Sorted(maps.Keys(bag)) {
			to = appendEntry(to, key, bag[key])
		}
	}
	return closed(to, '}')
}

func appendEntry(to []byte, key string, entry Entry) []byte {
	if entry.data == "" {
		return to
	}
	to = append(appendQuoted(to, key), ':', '{')
	if entry.basis != "" {
		to = append(appendQuoted(append(to, `"b":`...), entry.basis), ',')
	}
	return append(append(append(to, `"d":`...), entry.data...), "},"...)
}
