// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"encoding/json"
	"errors"
)

// ParamValue is a string, a list or a map in JSON. Its zero value holds no value, and has no JSON.
type ParamValue struct {
	Type      ParamType         `json:"type"`
	StringVal string            `json:"stringVal"`
	ArrayVal  []string          `json:"arrayVal"`
	ObjectVal map[string]string `json:"objectVal"`
}

// ParamType is a member of ParamValue.
type ParamType string

// Types of values.
const (
	ParamTypeString ParamType = "string"
	ParamTypeArray  ParamType = "array"
	ParamTypeObject ParamType = "object"
)

// MarshalJSON implements json.Marshaler.
func (v ParamValue) MarshalJSON() ([]byte, error) {
	switch v.Type {
	case ParamTypeString:
		return json.Marshal(v.StringVal) //nolint:wrapcheck // as encoding/json reports it
	case ParamTypeArray:
		return json.Marshal(v.ArrayVal) //nolint:wrapcheck // as encoding/json reports it
	case ParamTypeObject:
		return json.Marshal(v.ObjectVal) //nolint:wrapcheck // as encoding/json reports it
	default:
		return nil, errors.New("the type of a value is string, array or object")
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ParamValue) UnmarshalJSON(text []byte) error {
	*v = ParamValue{}
	switch {
	case len(text) > 0 && text[0] == '[':
		v.Type = ParamTypeArray
		return json.Unmarshal(text, &v.ArrayVal) //nolint:wrapcheck // as encoding/json reports it
	case len(text) > 0 && text[0] == '{':
		v.Type = ParamTypeObject
		return json.Unmarshal(text, &v.ObjectVal) //nolint:wrapcheck // as encoding/json reports it
	default:
		v.Type = ParamTypeString
		return json.Unmarshal(text, &v.StringVal) //nolint:wrapcheck // as encoding/json reports it
	}
}
