/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// reasonOf explains why an operation of a JSON patch does not fit a document. Values of Secrets are not shown.
func (c *call) reasonOf(operation jsonpatch.Operation, patched child.Patched) string {
	if operation.Kind() != "test" {
		return patched.Reason
	}
	var root any
	if err := utiljson.Unmarshal(patched.Document, &root); err != nil {
		return err.Error()
	}
	path, _ := operation.Path() // checked
	have, ok := lookup(root, path)
	if c.isConfidential() {
		return "the value is another one"
	}
	want := []byte("null")
	if operation["value"] != nil {
		want = *operation["value"]
	}
	if !ok {
		return fmt.Sprintf("there is no value, want %s", want)
	}
	actual, err := json.Marshal(have)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the value is %s, want %s", actual, want)
}

// unescape decodes a part of a JSON pointer (RFC 6901, section 4).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// lookup returns the value that a JSON pointer names.
func lookup(value any, pointer string) (any, bool) {
	for escaped := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part := unescape.Replace(escaped)
		switch parent := value.(type) {
		case map[string]any:
			field, ok := parent[part]
			if !ok {
				return nil, false
			}
			value = field
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			value = parent[i]
		default:
			return nil, false
		}
	}
	return value, true
}
