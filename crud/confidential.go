/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/internal/child"
)

func (c *call) isConfidential() bool { return c.options.ConfidentialKinds.Has(c.kind.GroupKind()) }

// masked returns an error of a filter without the values of a confidential object.
func (c *call) masked(err error, states ...map[string]any) error {
	if !c.isConfidential() {
		return err
	}
	values := confidential.Values{Kinds: c.options.ConfidentialKinds}
	for _, fields := range states {
		values.AddFields(fields)
	}
	return values.Error(err)
}

// AddConfidential adds the values that an operation writes to an object of a confidential kind.
func (c *Client) AddConfidential(values *confidential.Values, op Operation) {
	ref := op.Target()
	if ref.Kind == "" && !isNil(op.Object) {
		gvk, _ := c.gvkOf(op.Object) // Run reports an unknown type
		ref.APIVersion, ref.Kind = gvk.ToAPIVersionAndKind()
	}
	if ref.Kind == "" {
		return // a function writes what is not known yet
	}
	// Without an answer of the API server about the kind, it may be confidential.
	if found, err := c.kinds.find(ref, anyKind); err == nil && !c.options.ConfidentialKinds.Has(found.GroupKind()) {
		return
	}
	// What cannot be decoded is not sent.
	written := map[string]any{}
	switch patch, _ := decodeJSONPatch(op.Patch); {
	case !isNil(op.Object):
		written, _ = fields(op.Object)
	case op.Type == TypeMergePatch:
		written, _ = decodeMergePatch(op.Patch)
	case op.Type == TypeJQPatch:
		for i, text := range child.Literals(op.JQ) {
			written[strconv.Itoa(i)] = text
		}
	default:
		for i := range patch {
			written[strconv.Itoa(i)], _ = patch[i].ValueInterface()
		}
	}
	values.AddFields(written)
}

// misfits describes the fields of an object or a patch that the Go type of the kind cannot hold. The API server quotes the object when it reports them.
func (c *call) misfits(sent any) (found []string) {
	object, err := c.options.Scheme.New(c.kind.GroupVersionKind)
	if err != nil {
		return nil
	}
	typed := reflect.TypeOf(object)
	encoded, isPatch := sent.([]byte)
	if isPatch && utiljson.Unmarshal(encoded, &sent) != nil {
		return nil
	}
	operations, isJSONPatch := sent.([]any)
	if !isJSONPatch {
		return misfits(sent, typed, "")
	}
	for _, operation := range operations {
		fields, _ := operation.(map[string]any) // validated
		path, _ := fields["path"].(string)
		value := fields["value"]
		for _, part := range slices.Backward(strings.Split(strings.Trim(path, "/"), "/")) {
			value = map[string]any{unescape.Replace(part): value}
		}
		found = append(found, misfits(value, typed, "")...)
	}
	return found
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func misfits(value any, typed reflect.Type, path string) (found []string) {
	for typed.Kind() == reflect.Pointer {
		typed = typed.Elem()
	}
	fields, isObject := value.(map[string]any)
	items, isList := value.([]any)
	own := reflect.PointerTo(typed).Implements(unmarshaler)
	switch encoded, err := json.Marshal(value); {
	case err != nil, value == nil:
	case isObject && !own && holdsFields(typed):
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if inner, ok := member(typed, name); ok {
				found = append(found, misfits(fields[name], inner, path+"."+name)...)
			} else {
				found = append(found, strings.TrimPrefix(path+"."+name, ".")+": the kind has no such field")
			}
		}
	case isList && !own && typed.Kind() == reflect.Slice:
		for i, item := range items {
			found = append(found, misfits(item, typed.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case json.Unmarshal(encoded, reflect.New(typed).Interface()) != nil:
		want, is := typeName(typed), typeName(reflect.TypeOf(value))
		if strings.HasPrefix(want, is) {
			is = "another text"
		}
		found = append(found, fmt.Sprintf("%s: must be %s, is %s", strings.TrimPrefix(path, "."), want, is))
	}
	return found
}

// holdsFields reports whether member finds types in a type. A list may have paths of a JSON patch.
func holdsFields(typed reflect.Type) bool {
	return slices.Contains([]reflect.Kind{reflect.Struct, reflect.Map, reflect.Slice}, typed.Kind()) && typed != reflect.TypeFor[[]byte]()
}

func member(of reflect.Type, name string) (reflect.Type, bool) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Map, reflect.Slice:
		return of.Elem(), true
	case reflect.Struct:
		for i := range of.NumField() {
			field := of.Field(i)
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if tag == name {
				return field.Type, true
			}
			if inner, ok := member(field.Type, name); ok && tag == "" && field.Anonymous {
				return inner, true
			}
		}
	}
	return nil, false
}

var typeNames = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "a boolean", reflect.Map: "an object", reflect.Struct: "an object", reflect.Slice: "a list",
}

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[[]byte]():
		return "a text in base64"
	case reflect.PointerTo(t).Implements(unmarshaler):
		return "a " + t.Name()
	}
	return cmp.Or(typeNames[t.Kind()], "a number")
}
