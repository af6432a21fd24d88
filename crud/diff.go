/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"maps"
	"reflect"
	"slices"
)

// mergePatch returns the JSON merge patch that gives live the fields of desired, and nil if it has them. A field of desired that is nil must
// be absent. Lists are compared and replaced as a whole. With removes, fields that desired lacks must be absent, too.
func mergePatch(live, desired map[string]any, removes bool) map[string]any {
	patch := map[string]any{}
	for key, want := range desired {
		have, ok := live[key]
		inner, isMap := want.(map[string]any)
		innerLive, liveIsMap := have.(map[string]any)
		switch {
		case want == nil:
			if ok && have != nil {
				patch[key] = nil
			}
		case isMap && liveIsMap:
			if difference := mergePatch(innerLive, inner, removes); difference != nil {
				patch[key] = difference
			}
		case isMap && !ok, !equal(have, want):
			patch[key] = want
		}
	}
	if removes {
		for key := range live {
			if _, ok := desired[key]; !ok {
				patch[key] = nil
			}
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}

// equal compares JSON values. Numbers are equal if their values are, since 1 and 1.0 are the same to the API server.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case int64:
		if b, ok := b.(float64); ok {
			return float64(a) == b && int64(b) == a
		}
	case float64:
		if b, ok := b.(int64); ok {
			return equal(b, a)
		}
	}
	return reflect.DeepEqual(a, b)
}

// holdsList reports whether a patch replaces a list, so that it must not be applied to another state than that from which it was made.
func holdsList(patch any) bool {
	switch patch := patch.(type) {
	case []any:
		return true
	case map[string]any:
		for _, value := range patch {
			if holdsList(value) {
				return true
			}
		}
	}
	return false
}

// withoutNulls returns a copy of a desired state as it is created: fields that must be absent are left out.
func withoutNulls(value map[string]any) map[string]any {
	result := make(map[string]any, len(value))
	for key, field := range value {
		if inner, ok := field.(map[string]any); ok {
			result[key] = withoutNulls(inner)
		} else if field != nil {
			result[key] = field
		}
	}
	return result
}
