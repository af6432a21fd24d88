/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"reflect"
	"strconv"
)

// decode sets what out points to, or leaves it as it is if the data does not fit.
func decode(data string, out any) bool {
	if decodeScalar(data, out) {
		return true
	}
	into := reflect.ValueOf(out).Elem()
	if into.IsZero() {
		// There is nothing to be spared.
		if err := json.Unmarshal([]byte(data), out); err != nil {
			into.SetZero()
			return false
		}
		return true
	}
	value := reflect.New(into.Type())
	if err := json.Unmarshal([]byte(data), value.Interface()); err != nil {
		return false
	}
	into.Set(value.Elem())
	return true
}

// decodeScalar decodes what most entries hold at a fraction of the cost. What it does not know or like, it leaves alone.
func decodeScalar(data string, out any) bool {
	switch out := out.(type) {
	case **string:
		if data[0] == '"' {
			value := unquoted(data)
			*out = &value
			return true
		}
	case **bool:
		if value := data == "true"; value || data == "false" {
			*out = &value
			return true
		}
	case **int32:
		if value, err := strconv.ParseInt(data, 10, 32); err == nil {
			narrow := int32(value)
			*out = &narrow
			return true
		}
	case **int64:
		if value, err := strconv.ParseInt(data, 10, 64); err == nil {
			*out = &value
			return true
		}
	}
	return false
}
