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
	"strconv"
	"strings"

	"github.com/go-openapi/jsonpointer"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// jsonPatch sends the patch of the caller. With an id, or if missing paths are ignored, it is a filter: it is executed here on the state of the object.
func (c *call) jsonPatch(ctx context.Context) error {
	patch, _ := decodeJSONPatch(c.op.Patch) // validated
	if err := c.checkPaths(patch); err != nil {
		return err
	}
	if len(patch) > 0 && (c.op.ID != "" || c.op.IgnoreMissingPaths) {
		if version := c.op.RequiredVersion(); version != "" {
			c.op.Preconditions.ResourceVersion = &version
		}
		c.op.change = func(ctx context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error) {
			after, err = c.rehearse(ctx, live, patch)
			return live.Object, after, err
		}
		return c.filterPatch(ctx)
	}
	return c.send(ctx, types.JSONPatchType, len(patch), func(preconditions metav1.Preconditions) any { return withTests(patch, preconditions) })
}

func (c *call) checkPaths(patch jsonpatch.Patch) error {
	for i, operation := range patch {
		if operation.Kind() == "test" {
			continue
		}
		path, _ := operation.Path() // validated
		parts := strings.SplitN(path+"//", "/", 4)
		changed := map[string]any{parts[1]: map[string]any{parts[2]: nil}}
		if err := c.checkFields(changed); err != nil {
			return fmt.Errorf("operation %d of the JSON patch: %w", i, err)
		}
	}
	return nil
}

// withTests returns a JSON patch with preconditions. The API server answers another resourceVersion with a conflict, and another UID as a change of
// the UID.
func withTests(patch jsonpatch.Patch, preconditions metav1.Preconditions) []any {
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
	return operations
}

// rehearse executes a JSON patch on a state here, without removals of paths that do not exist if the operation ignores them. The API server does not
// return which operation failed; the error does.
func (c *call) rehearse(ctx context.Context, live *unstructured.Unstructured, patch jsonpatch.Patch) (after map[string]any, err error) {
	document, err := live.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	patched, err := child.Patch(ctx, document, patch, c.op.IgnoreMissingPaths)
	if err == nil && patched.Reason != "" {
		operation := patch[patched.Failed]
		path, _ := operation.Path() // checked
		err = fmt.Errorf("operation %d of the JSON patch, %s of %s: %s", patched.Failed, operation.Kind(), path, c.reasonOf(operation, patched))
	}
	if err == nil {
		err = utiljson.Unmarshal(patched.Document, &after)
	}
	if err != nil {
		return nil, PatchTestFailed.of(err)
	}
	return after, nil
}

// explained returns the reason for which the API server could not execute a JSON patch. If the patch fits the object by now, it is sent again once.
func (c *call) explained(ctx context.Context, err error, hasFitted *bool) error {
	patch, _ := decodeJSONPatch(c.op.Patch) // validated
	if live, failed := c.objects.Get(ctx, c.op.Name, metav1.GetOptions{}); failed == nil {
		if _, unfit := c.rehearse(ctx, live, patch); ClassOf(unfit) == PatchTestFailed {
			return unfit
		}
	}
	status, _ := errors.AsType[*apierrors.StatusError](err)
	if !*hasFitted && status != nil && status.ErrStatus.Details != nil && len(status.ErrStatus.Details.Causes) == 0 {
		*hasFitted = true
		return Conflict.errorf("the object changed, since the JSON patch fits now: %w", err)
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

func decodeJSONPatch(encoded []byte) (jsonpatch.Patch, error) {
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return nil, fmt.Errorf("the JSON patch is not a list of operations: %w", err)
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
	return nil
}

// reasonOf explains why an operation of a JSON patch does not fit a document. Values of Secrets are not shown.
func (c *call) reasonOf(operation jsonpatch.Operation, patched child.Patched) string {
	if operation.Kind() != "test" {
		return patched.Reason
	}
	if c.isConfidential() {
		return "the value is another one"
	}
	var root any
	_ = utiljson.Unmarshal(patched.Document, &root) // it is JSON
	path, _ := operation.Path()                     // checked
	pointer, _ := jsonpointer.New(path)             // checked
	have, _, missing := pointer.Get(root)
	want := []byte("null")
	if operation["value"] != nil {
		want = *operation["value"]
	}
	if missing != nil {
		return fmt.Sprintf("there is no value, want %s", want)
	}
	actual, _ := json.Marshal(have) //nolint:errchkjson // it was decoded from JSON
	return fmt.Sprintf("the value is %s, want %s", actual, want)
}
