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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// jsonPatch sends the patch of the caller. The object is read before only if the operation has an id, or ignores missing paths.
func (c *call) jsonPatch(ctx context.Context) error {
	patch, _ := decodeJSONPatch(c.op.Patch) // validated
	if err := c.checkPaths(patch); err != nil {
		return err
	}
	if len(patch) == 0 {
		return c.unchanged(byDiff)
	}
	var again []Class
	if c.op.RequiredVersion() == "" {
		again = append(again, Conflict)
	}
	if c.op.ID != "" || !slices.ContainsFunc(patch, changesAgain) {
		again = append(again, Uncertain)
	}
	hasFitted := false
	return c.skipMissing(ctx, c.retry(ctx, func() error {
		err := c.send(ctx, types.JSONPatchType, func(live *unstructured.Unstructured, preconditions metav1.Preconditions) (any, error) {
			return c.buildJSON(ctx, live, preconditions, patch)
		})
		if ClassOf(err) != Invalid {
			return err
		}
		if unfit := c.explain(ctx, patch); unfit != nil {
			return unfit
		}
		status, _ := errors.AsType[*apierrors.StatusError](err)
		if !hasFitted && status != nil && status.ErrStatus.Details != nil && len(status.ErrStatus.Details.Causes) == 0 {
			hasFitted = true
			return Conflict.errorf("the object changed, since the JSON patch fits now: %w", err)
		}
		return err
	}, again...))
}

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

// buildJSON returns a JSON patch with preconditions, fit to the state of the object if that is known. The API server answers another
// resourceVersion with a conflict, and another UID as a change of the UID.
func (c *call) buildJSON(ctx context.Context, live *unstructured.Unstructured, preconditions metav1.Preconditions, patch jsonpatch.Patch) (any, error) {
	if live != nil {
		fitting, document, err := c.rehearse(ctx, live, patch)
		if err != nil || len(fitting) == 0 {
			return nil, err
		}
		if patch = fitting; c.op.ID != "" {
			mark, err := c.marking(live, document)
			if err != nil {
				return nil, err
			}
			patch = slices.Concat(fitting, mark)
		}
	}
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
	return operations, nil
}

// rehearse executes a JSON patch on a state here. It returns the document after it, and the operations without removals of paths that do not
// exist if the operation ignores them. The API server does not return which operation failed; the error does.
func (c *call) rehearse(ctx context.Context, live *unstructured.Unstructured, patch jsonpatch.Patch) (fitting jsonpatch.Patch, document []byte, err error) {
	if document, err = live.MarshalJSON(); err != nil {
		return nil, nil, fmt.Errorf("encoding the object: %w", err)
	}
	patched, err := child.Patch(ctx, document, patch, c.op.IgnoreMissingPaths)
	switch {
	case err != nil:
		return nil, nil, PatchTestFailed.of(err)
	case patched.Reason != "":
		operation := patch[patched.Failed]
		path, _ := operation.Path() // checked
		return nil, nil, PatchTestFailed.errorf("operation %d of the JSON patch, %s of %s: %s",
			patched.Failed, operation.Kind(), path, c.reasonOf(operation, patched))
	}
	for _, i := range patched.Executed {
		fitting = append(fitting, patch[i])
	}
	return fitting, patched.Document, nil
}

// explain returns the reason for which the API server could not execute a JSON patch, or nil if the patch fits the object by now.
func (c *call) explain(ctx context.Context, patch jsonpatch.Patch) error {
	live, err := c.objects.Get(ctx, c.op.Name, metav1.GetOptions{})
	if err == nil {
		_, _, err = c.rehearse(ctx, live, patch)
	}
	if ClassOf(err) == PatchTestFailed {
		return err
	}
	return nil
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

// requires maps each operation of a JSON patch to its fields other than op and path (RFC 6902, section 4).
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
