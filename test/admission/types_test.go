/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/test/harness"
)

// others are values of each type of a schema's.
var others = map[string]any{
	"string": "text", "integer": int64(1), "number": 1.5, "boolean": true, "array": []any{}, "object": map[string]any{},
}

func TestEveryFieldRefusesValuesOfOtherTypes(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	fields := map[string]string{}
	for _, schema := range schemas(t) {
		collectTypes(t, schema, "", fields)
	}
	for path, typ := range fields {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			for other, value := range others {
				if other == typ {
					continue
				}
				_, err := tryCreate(t, env, object(ns, set(path, value)))
				if err == nil {
					t.Errorf("the %s %v is accepted as %s", other, value, typ)
					continue
				}
				// The webhook, which comes first, does not say which item of a list it means.
				if name := strings.ReplaceAll(path, ".0", ""); !strings.Contains(err.Error(), name) {
					t.Errorf("the refusal of the %s %v as %s does not name %s: %v", other, value, typ, name, err)
				}
			}
		})
	}
	// The greatest number that fits is no good port either.
	_, err := tryCreate(t, env, object(ns, set("spec.ports.0.port", int64(1)<<31)))
	if err == nil || !strings.Contains(err.Error(), "spec.ports.port") {
		t.Errorf("a number that does not fit: got error %v, want one that names spec.ports.port", err)
	}
}

// collectTypes adds the types of the fields of a schema to found, by the path of the field in the first item of a list.
func collectTypes(t *testing.T, schema map[string]any, path string, found map[string]string) {
	t.Helper()
	if path != "" {
		found[path] = as[string](schema["type"])
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for name, property := range properties {
			collectTypes(t, as[map[string]any](property), strings.TrimPrefix(path+"."+name, "."), found)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		// The item itself is set through the list that holds it.
		delete(items, "type")
		for name, property := range as[map[string]any](items["properties"]) {
			collectTypes(t, as[map[string]any](property), path+".0."+name, found)
		}
	}
}
