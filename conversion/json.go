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
	"unicode/utf8"
)

// Canonical is a value as JSON that is the same for the same content, whatever the order in which a struct declares its fields and however its
// strings were escaped: names are sorted, there is no whitespace, and nothing is escaped that need not be (except U+2028 and U+2029, as encoding/json
// does it). Numbers stay as they are written. It fails for what encoding/json cannot marshal.
func Canonical(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("marshaling %T: %w", value, err)
	}
	// Without names there is nothing to sort, and without a backslash nothing to unescape.
	if !bytes.ContainsAny(data, `{\`) && utf8.Valid(data) {
		return data, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var content any
	if err := decoder.Decode(&content); err != nil {
		return nil, fmt.Errorf("reading a marshaled %T: %w", value, err)
	}
	return marshal(content)
}

// marshal is json.Marshal, but escapes nothing for the sake of HTML.
func marshal(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("marshaling %T: %w", value, err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// Raw is a copy of JSON in a field of an API object, or nil for none and for null: types that hold JSON read null as nothing.
func Raw(message json.RawMessage) json.RawMessage {
	if len(message) == 0 || string(message) == "null" {
		return nil
	}
	return bytes.Clone(message)
}

// isTooDeep reports whether objects and arrays are nested deeper in valid JSON than an entry's data may be.
func isTooDeep(data []byte) bool {
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) <= MaxNesting {
		return false // there is no need to look closer
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // any number
	for depth := 0; depth <= MaxNesting; {
		token, err := decoder.Token()
		if err != nil { // the end
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return true
}

// Equal reports whether two values are the same as canonical JSON, which is stricter than equality.Semantic: an empty list that
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

// fingerprintBytes is the number of bytes of a SHA-256 that are kept. Fingerprints distinguish an object's parts from each other and old from new;
// they protect nothing, since a client that is allowed to write one can write the other.
const fingerprintBytes = 8

// Fingerprint is a short text that is the same for two values exactly if their canonical JSON is (except for collisions). It is
// empty for what cannot be marshaled, and such a fingerprint never matches.
func Fingerprint(value any) string {
	canonical, err := Canonical(value)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(canonical)
	return base64.RawURLEncoding.EncodeToString(sum[:fingerprintBytes])
}
