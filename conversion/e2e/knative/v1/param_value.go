/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"bytes"
	"encoding/json"
)

// ParamValue is a string, a list or a map in JSON.
type ParamValue struct {
	StringVal string            `json:"stringVal"`
	ArrayVal  []string          `json:"arrayVal"`
	ObjectVal map[string]string `json:"objectVal"`
}

// MarshalJSON implements json.Marshaler.
func (v ParamValue) MarshalJSON() ([]byte, error) {
	switch {
	case v.ArrayVal != nil:
		return json.Marshal(v.ArrayVal) //nolint:wrapcheck // as encoding/json reports it
	case v.ObjectVal != nil:
		return json.Marshal(v.ObjectVal) //nolint:wrapcheck // as encoding/json reports it
	default:
		return json.Marshal(v.StringVal) //nolint:wrapcheck // as encoding/json reports it
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ParamValue) UnmarshalJSON(text []byte) error {
	*v = ParamValue{}
	switch {
	case bytes.HasPrefix(text, []byte("[")):
		return json.Unmarshal(text, &v.ArrayVal) //nolint:wrapcheck // as encoding/json reports it
	case bytes.HasPrefix(text, []byte("{")):
		return json.Unmarshal(text, &v.ObjectVal) //nolint:wrapcheck // as encoding/json reports it
	default:
		return json.Unmarshal(text, &v.StringVal) //nolint:wrapcheck // as encoding/json reports it
	}
}
