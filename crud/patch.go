/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// mergePatch sends the patch of the caller as it is.
func (c *call) mergePatch(ctx context.Context) error {
	fields, _ := decodeMergePatch(c.op.Patch) // validated
	for field := range fields {
		if err := c.checkField(field); err != nil {
			return err
		}
	}
	metadata, _ := fields["metadata"].(map[string]any)
	for field := range metadata {
		if err := c.checkMetadata(field); err != nil {
			return err
		}
	}
	if len(fields) == 0 {
		c.result.Outcome = Unchanged
		return nil
	}
	encoded, err := json.Marshal(withPreconditions(fields, c.op.Preconditions))
	if err != nil {
		return Malformed.errorf("encoding the patch: %w", err)
	}
	var again []Class
	if metadata["resourceVersion"] == nil && c.op.Preconditions.ResourceVersion == nil {
		again = []Class{Uncertain} // executed twice, it changes nothing the second time
	}
	return c.skipMissing(ctx, c.retry(ctx, func() error { return c.send(ctx, types.MergePatchType, encoded) }, again...))
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

// checkMetadata rejects a field of the metadata that the API server would ignore with StatusPatch.
func (c *call) checkMetadata(field string) error {
	if c.op.StatusPatch && !slices.Contains([]string{"name", "namespace", "uid", "resourceVersion"}, field) {
		return Malformed.errorf("the API server ignores metadata.%s in a patch of the status: leave it out", field)
	}
	return nil
}

// checkField rejects a field that the API server would ignore: the status without StatusPatch, and all others with it.
func (c *call) checkField(field string) error {
	switch {
	case field == "status" && !c.op.StatusPatch && c.kind.status != nil:
		return Malformed.errorf("the API server ignores status here: set StatusPatch")
	case c.op.StatusPatch && field != "status" && field != "metadata" && field != "apiVersion" && field != "kind":
		return Malformed.errorf("the API server ignores %s in a patch of the status: leave it out, or unset StatusPatch", field)
	}
	return nil
}

// send sends a patch. The state before it is not known, so that the outcome is Updated.
func (c *call) send(ctx context.Context, kind types.PatchType, patch []byte) error {
	patched, err := c.patch(ctx, kind, patch)
	if err != nil {
		return err
	}
	c.updated(nil, patched)
	return nil
}

// jsonPatch sends the patch of the caller. The API server does not return which of its operations failed, so that it is executed here again.
func (c *call) jsonPatch(ctx context.Context) error {
	patch, _ := decodeJSONPatch(c.op.Patch) // validated
	if err := c.checkPaths(patch); err != nil {
		return err
	}
	if len(patch) == 0 {
		c.result.Outcome = Unchanged
		return nil
	}
	var again []Class
	if c.op.IgnoreMissingPaths && c.op.Preconditions.ResourceVersion == nil {
		again = append(again, Conflict)
	}
	if !slices.ContainsFunc(patch, changesAgain) {
		again = append(again, Uncertain)
	}
	return c.skipMissing(ctx, c.retry(ctx, func() error {
		if c.op.IgnoreMissingPaths {
			return c.jsonPatchExisting(ctx, patch)
		}
		return c.sendJSON(ctx, patch, c.op.Preconditions)
	}, again...))
}

// checkPaths rejects paths that the API server would ignore.
func (c *call) checkPaths(patch jsonpatch.Patch) error {
	for i, operation := range patch {
		if operation.Kind() == "test" {
			continue
		}
		path, _ := operation.Path() // validated
		top, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		err := c.checkField(top)
		if field, _, _ := strings.Cut(rest, "/"); err == nil && top == "metadata" {
			err = c.checkMetadata(field)
		}
		if err != nil {
			return fmt.Errorf("operation %d of the JSON patch: %w", i, err)
		}
	}
	return nil
}

// sendJSON sends a JSON patch. The API server answers another resourceVersion with a conflict, and another UID as a change of the UID.
func (c *call) sendJSON(ctx context.Context, patch jsonpatch.Patch, preconditions metav1.Preconditions) error {
	operations := []any{}
	for _, operation := range patch {
		operations = append(operations, operation)
	}
	replace := func(path, value string) {
		operations = append(operations, map[string]string{"op": "replace", "path": path, "value": value})
	}
	if preconditions.UID != nil {
		replace("/metadata/uid", string(*preconditions.UID))
	}
	if preconditions.ResourceVersion != nil {
		replace("/metadata/resourceVersion", *preconditions.ResourceVersion)
	}
	encoded, err := json.Marshal(operations)
	if err != nil {
		return Malformed.errorf("encoding the patch: %w", err)
	}
	err = c.send(ctx, types.JSONPatchType, encoded)
	if ClassOf(err) == Invalid {
		return c.explain(ctx, patch, err)
	}
	return err
}

// changesAgain reports whether an operation of a JSON patch changes an object, or fails, although it was executed before: all except replace,
// and add of a field.
func changesAgain(operation jsonpatch.Operation) bool {
	path, _ := operation.Path() // checked
	last := path[strings.LastIndex(path, "/")+1:]
	_, err := strconv.Atoi(last)
	isItem := err == nil || last == "-"
	return operation.Kind() != "replace" && (operation.Kind() != "add" || isItem)
}

// maxJSONPatch is the number of operations that the API server accepts (k8s.io/apiserver/pkg/endpoints/handlers/patch.go).
const maxJSONPatch = 10_000

func decodeJSONPatch(encoded []byte) (jsonpatch.Patch, error) {
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return nil, fmt.Errorf("the JSON patch is not a list of operations: %w", err)
	}
	if len(patch) > maxJSONPatch {
		return nil, fmt.Errorf("the JSON patch has %d operations, of which the API server accepts %d", len(patch), maxJSONPatch)
	}
	for i, operation := range patch {
		if err := checkJSONPatch(operation); err != nil {
			return nil, fmt.Errorf("operation %d of the JSON patch: %w", i, err)
		}
	}
	return patch, nil
}

// requires are the fields that each operation of a JSON patch has beside op and path (RFC 6902, section 4).
var requires = map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}

func checkJSONPatch(operation jsonpatch.Operation) error {
	path, err := operation.Path()
	if err != nil || path != "" && !strings.HasPrefix(path, "/") {
		return errors.New("path must be a JSON pointer, such as /metadata/labels/app.kubernetes.io~1name")
	}
	needed, ok := requires[operation.Kind()]
	if !ok {
		return fmt.Errorf("op %q does not exist: use add, remove, replace, move, copy or test", operation.Kind())
	}
	if value, ok := operation[needed]; needed != "" && (!ok || needed == "from" && value == nil) {
		return fmt.Errorf("%s of %s lacks %s", operation.Kind(), path, needed)
	}
	top, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if top == "metadata" && operation.Kind() != "test" {
		switch rest {
		case "name", "namespace", "uid", "creationTimestamp", "managedFields":
			return fmt.Errorf("%s cannot be changed", path)
		}
	}
	return nil
}

// jsonPatchExisting sends the patch without the removals of paths that do not exist in the state that it reads.
func (c *call) jsonPatchExisting(ctx context.Context, patch jsonpatch.Patch) error {
	live, err := c.get(ctx)
	if err != nil {
		return err
	}
	document, err := live.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encoding the object: %w", err)
	}
	var existing jsonpatch.Patch
	for _, operation := range patch {
		next, err := jsonpatch.Patch{operation}.Apply(document)
		if operation.Kind() == "remove" && err != nil {
			continue
		}
		if err == nil {
			document = next
		}
		existing = append(existing, operation)
	}
	if len(existing) == 0 {
		c.result.Outcome = Unchanged
		return nil
	}
	version, preconditions := live.GetResourceVersion(), c.op.Preconditions
	if preconditions.ResourceVersion == nil {
		preconditions.ResourceVersion = &version
	}
	return c.sendJSON(ctx, existing, preconditions)
}

// explain finds the operation of a JSON patch that the API server could not execute.
func (c *call) explain(ctx context.Context, patch jsonpatch.Patch, rejected error) error {
	live, err := c.objects.Get(ctx, c.op.Name, metav1.GetOptions{})
	if err != nil {
		return rejected
	}
	document, err := live.MarshalJSON()
	if err != nil {
		return rejected
	}
	for i, operation := range patch {
		next, err := jsonpatch.Patch{operation}.Apply(document)
		if err != nil {
			path, _ := operation.Path() // checked
			return PatchTestFailed.errorf("operation %d of the JSON patch, %s of %s: %s",
				i, operation.Kind(), path, c.reasonOf(operation, document, err))
		}
		document = next
	}
	return rejected
}
