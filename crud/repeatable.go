/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"slices"
)

// Repeatable reports whether a second execution of the operation changes nothing and succeeds. Create and JSON patches that add, remove or move
// list items are not repeatable. The effect of a jq program or a function is not known, and assumed to be repeatable.
func (o Operation) Repeatable() bool {
	if o.Type == TypeJSONPatch {
		patch, err := decodeJSONPatch(o.Patch)
		return err == nil && !slices.ContainsFunc(patch, changesAgain)
	}
	return o.Type != TypeCreate
}

// RequiredVersion returns the resourceVersion that the operation requires, so that it fails if the object has changed since the caller read it, or
// "" if it requires none.
func (o Operation) RequiredVersion() (version string) {
	if o.Preconditions.ResourceVersion != nil {
		return *o.Preconditions.ResourceVersion
	}
	switch o.Type {
	case TypeCreateOrUpdate, TypeFilterPatchOptimistic:
		if !isNil(o.Object) {
			version = o.Object.GetResourceVersion()
		}
	case TypeMergePatch:
		if fields, err := decodeMergePatch(o.Patch); err == nil {
			metadata, _ := fields["metadata"].(map[string]any)
			version, _ = metadata["resourceVersion"].(string)
		}
	case TypeJSONPatch:
		patch, err := decodeJSONPatch(o.Patch)
		for _, operation := range patch {
			path, _ := operation.Path() // checked
			if value, ok := operation["value"]; err == nil && ok && path == "/metadata/resourceVersion" && json.Unmarshal(*value, &version) != nil {
				return ""
			}
		}
	default:
	}
	return version
}
