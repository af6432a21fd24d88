/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func (c *call) mergePatch(ctx context.Context) error {
	fields, _ := decodeMergePatch(c.op.Patch) // validated
	if err := c.checkFields(fields); err != nil {
		return err
	}
	return c.send(ctx, types.MergePatchType, len(fields), func(preconditions metav1.Preconditions) any { return withPreconditions(fields, preconditions) })
}

func decodeMergePatch(encoded []byte) (fields map[string]any, err error) {
	if err := utiljson.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("the merge patch is not a JSON object: %w", err)
	}
	metadata, _ := fields["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion"} {
		if value, ok := metadata[field]; ok && value == nil {
			return nil, fmt.Errorf("the merge patch removes metadata.%s, which the API server requires", field)
		}
	}
	return fields, nil
}

// checkFields rejects fields of a merge patch that the API server would ignore: the status without StatusPatch, and all others with it.
func (c *call) checkFields(patch map[string]any) error {
	if _, ok := patch["status"]; ok && !c.op.StatusPatch && c.kind.hasStatus {
		return Malformed.errorf("the API server ignores status here: set StatusPatch")
	}
	if !c.op.StatusPatch {
		return nil
	}
	for field := range patch {
		if !slices.Contains([]string{"status", "metadata", "apiVersion", "kind"}, field) {
			return Malformed.errorf("the API server ignores %s in a patch of the status: leave it out, or unset StatusPatch", field)
		}
	}
	metadata, _ := patch["metadata"].(map[string]any)
	for field := range metadata {
		if !slices.Contains([]string{"name", "namespace", "uid", "resourceVersion"}, field) {
			return Malformed.errorf("the API server ignores metadata.%s in a patch of the status: leave it out", field)
		}
	}
	return nil
}

// send sends the patch of the caller, which build returns with preconditions, unless its length is 0. The object is not read before, except for the UID
// that a patch of the status requires: the API server ignores it there, and rejects the patch for another state.
func (c *call) send(ctx context.Context, kind types.PatchType, length int, build func(metav1.Preconditions) any) error {
	if length == 0 {
		return c.unchanged()
	}
	hasFitted := false
	return c.skipMissing(ctx, c.retry(ctx, func() error {
		preconditions := c.op.Preconditions
		if c.op.StatusPatch && preconditions.UID != nil {
			live, err := c.get(ctx)
			if err == nil {
				err = checkPreconditions(live, preconditions)
			}
			if err != nil {
				return err
			}
			preconditions.ResourceVersion = new(live.GetResourceVersion())
		}
		encoded, err := json.Marshal(build(preconditions))
		if err != nil {
			return Malformed.errorf("encoding the patch: %w", err)
		}
		patched, err := c.patch(ctx, kind, encoded)
		if err == nil {
			c.updated(nil, patched)
		}
		if kind == types.JSONPatchType && ClassOf(err) == Invalid {
			return c.explained(ctx, err, &hasFitted)
		}
		return err
	}))
}

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
