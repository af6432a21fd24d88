/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Canonical is a value as JSON that looks the same for the same content, whatever the order in which a struct declares
// its fields and whoever escaped its strings: names are sorted, there is no whitespace, and nothing is escaped that
// need not be (besides U+2028 and U+2029, as encoding/json does it). Numbers stay as they are written. It fails for what
// encoding/json cannot marshal.
func Canonical(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("marshalling %T: %w", value, err)
	}
	if isCanonical(data) {
		return data, nil
	}
	return appendCanonical(make([]byte, 0, len(data)), string(data)), nil
}

// isCanonical knows of what json.Marshal has made that it needs no rewriting: most values are small and simple.
func isCanonical(data []byte) bool {
	for _, c := range data {
		if c == '{' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendCanonical(to []byte, text string) []byte {
	switch text[0] {
	case '{':
		return appendCanonicalObject(to, text)
	case '[':
		to = append(to, '[')
		for element := range elements(text) {
			to = append(appendCanonical(to, element), ',')
		}
		return closed(to, ']')
	case '"':
		return appendQuoted(to, unquoted(text))
	default:
		return append(to, text...)
	}
}

func appendCanonicalObject(to []byte, text string) []byte {
	type member struct{ name, value string }
	const usual = 8
	all := make([]member, 0, usual)
	for name, value := range members(text) {
		all = append(all, member{name: unquoted(name), value: value})
	}
	slices.SortStableFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	to = append(to, '{')
	for i, m := range all {
		if i+1 < len(all) && all[i+1].name == m.name {
			continue // encoding/json lets the last one win too
		}
		to = append(appendQuoted(to, m.name), ':')
		to = append(appendCanonical(to, m.value), ',')
	}
	return closed(to, '}')
}

// closed ends an object or an array after whose last member there may be a comma.
func closed(to []byte, bracket byte) []byte {
	if last := len(to) - 1; to[last] == ',' {
		to[last] = bracket
		return to
	}
	return append(to, bracket)
}

// Equal is whether two values are the same as canonical JSON, which is stricter than equality.Semantic: an empty list that
// is written out is not an absent one.
func Equal(a, b any) (bool, error) {
	first, err := Canonical(a)
	if err != nil {
		return false, err
	}
	second, err := Canonical(b)
	if err != nil {
		return false, err
	}
	return bytes.Equal(first, second), nil
}

// fingerprintBytes is how much of a SHA-256 is kept. Fingerprints tell an object's parts from each other and old from
// new; they protect nothing, since who may write the one may write the other.
const fingerprintBytes = 8

// Fingerprint is a short text that is the same for two values exactly if their canonical JSON is (but for accidents). It is
// empty for what cannot be marshalled, and such a fingerprint never matches.
func Fingerprint(value any) string {
	canonical, err := Canonical(value)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(canonical)
	return base64.RawURLEncoding.EncodeToString(sum[:fingerprintBytes])
}
