/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-openapi/jsonpointer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kubernetesjson "sigs.k8s.io/json"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/internal/child"
)

func (c *call) isConfidential() bool { return c.options.ConfidentialKinds.Has(c.kind.GroupKind()) }

// planned returns a client for operations, which knows the values that they write to objects of confidential kinds.
func (c *Client) planned(operations []Operation) *Client {
	planned := *c
	planned.written = sync.OnceValue(func() *confidential.Values {
		values := &confidential.Values{}
		c.addWritten(values, operations, c.kinds.choose)
		return values
	})
	return &planned
}

// mask masks those values in the warnings and the error of one of the operations: the API server quotes its object, which may be of another kind.
func (c *Client) mask(result *Result, err error) {
	for i, warning := range result.Warnings {
		result.Warnings[i] = c.written().Mask(warning)
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Err = c.written().Masked(failed.Err)
	}
}

// AddConfidential adds the values that operations write to objects of confidential kinds.
func (c *Client) AddConfidential(values *confidential.Values, operations ...Operation) {
	c.addWritten(values, operations, c.kinds.find)
}

func (c *Client) addWritten(values *confidential.Values, operations []Operation, find func(Ref, func(kind) error) (kind, error)) {
	for _, op := range operations {
		ref := op.Target()
		if ref.Kind == "" && !isNil(op.Object) {
			gvk, _ := c.gvkOf(op.Object) // Run reports an unknown type
			ref.APIVersion, ref.Kind = gvk.ToAPIVersionAndKind()
		}
		if ref.Kind == "" {
			continue // a function writes what is not known yet
		}
		// Without an answer of the API server about the kind, it may be confidential.
		if found, err := find(ref, anyKind); err == nil && !c.options.ConfidentialKinds.Has(found.GroupKind()) {
			continue
		}
		// What cannot be decoded is not sent.
		written := map[string]any{}
		switch patch, _ := decodeJSONPatch(op.Patch); {
		case !isNil(op.Object):
			_ = guarded("the object", func() (err error) { // Run reports the error
				written, err = fields(op.Object)
				return err
			})
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
}

// misfits describes the fields of an object or a patch that the Go type of the kind cannot hold. The API server quotes the object when it reports them.
func (c *call) misfits(sent any) (found []string) {
	encoded, isPatch := sent.([]byte)
	if isPatch && utiljson.Unmarshal(encoded, &sent) != nil {
		return nil
	}
	whole := func(object any) any { return object }
	operations, isJSONPatch := sent.([]any)
	if !isJSONPatch {
		return c.misfitsOf(sent, "", whole)
	}
	for _, operation := range operations {
		fields, _ := operation.(map[string]any) // validated
		pointer, _ := fields["path"].(string)
		parts, in := strings.Split(pointer, "/")[1:], whole // none is before the first slash
		for _, part := range parts {
			outer, name := in, jsonpointer.Unescape(part)
			if in = func(value any) any { return outer(map[string]any{name: value}) }; c.holds(outer([]any{})) == nil {
				in = func(value any) any { return outer([]any{value}) }
			}
		}
		found = append(found, c.misfitsOf(fields["value"], "."+jsonpointer.Unescape(strings.Join(parts, ".")), in)...)
	}
	return found
}

// misfitsOf finds the smallest values that do not fit: those in an object or a list of which an empty one fits. in returns an object that has only
// the value at the path.
func (c *call) misfitsOf(value any, path string, in func(value any) any) (found []string) {
	err := c.holds(in(value))
	if err == nil {
		return nil
	}
	fields, isObject := value.(map[string]any)
	items, isList := value.([]any)
	switch {
	case isObject && c.holds(in(map[string]any{})) == nil:
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			found = append(found, c.misfitsOf(fields[name], path+"."+name, func(value any) any { return in(map[string]any{name: value}) })...)
		}
	case isList && c.holds(in([]any{})) == nil:
		for i, item := range items {
			found = append(found, c.misfitsOf(item, fmt.Sprintf("%s[%d]", path, i), func(value any) any { return in([]any{value}) })...)
		}
	default:
		found = append(found, strings.TrimPrefix(path, ".")+": "+mistake(value, err))
	}
	return found
}

// holds returns an error if the Go type of the kind cannot hold an object. It holds any if the type is not known.
func (c *call) holds(object any) error {
	typed, unknown := c.options.Scheme.New(c.kind.GroupVersionKind)
	encoded, unsent := json.Marshal(object)
	if errors.Join(unknown, unsent) != nil {
		return nil
	}
	strict, err := kubernetesjson.UnmarshalStrict(encoded, typed)
	return errors.Join(append(strict, err)...)
}

var typeNames = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "a boolean", reflect.Map: "an object", reflect.Struct: "an object", reflect.Slice: "a list",
}

// mistake describes a value that does not fit without showing it.
func mistake(value any, err error) string {
	wrong, isOther := errors.AsType[*json.UnmarshalTypeError](err)
	_, isText := errors.AsType[base64.CorruptInputError](err)
	_, isTime := errors.AsType[*time.ParseError](err)
	must, is := "another value", "null"
	if value != nil {
		is = cmp.Or(typeNames[reflect.TypeOf(value).Kind()], "a number")
	}
	switch {
	case isText:
		must, is = "a text in base64", "another text"
	case isTime:
		must = "a Time"
	case isOther && wrong.Type == reflect.TypeFor[[]byte]():
		must = "a text in base64"
	case isOther:
		must = cmp.Or(typeNames[wrong.Type.Kind()], "a number")
	case strings.Contains(err.Error(), "unknown field"):
		return "the kind has no such field"
	}
	return "must be " + must + ", is " + is
}
