/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
)

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
		return c.unchanged(byDiff)
	}
	var again []Class
	if c.op.RequiredVersion() == "" {
		again = []Class{Uncertain, Conflict} // executed twice, it changes nothing the second time
	}
	return c.skipMissing(ctx, c.retry(ctx, func() error {
		return c.send(ctx, types.MergePatchType, func(_ *unstructured.Unstructured, preconditions metav1.Preconditions) (any, error) {
			return withPreconditions(fields, preconditions), nil
		})
	}, again...))
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

// send sends the patch that build returns, for the state of the object if that must be known, and otherwise for nil. A patch that is nil changes
// nothing. With a state, the API server rejects the patch for another one. It ignores the UID in a patch of the status.
func (c *call) send(ctx context.Context, kind types.PatchType, build func(*unstructured.Unstructured, metav1.Preconditions) (any, error)) error {
	preconditions, live := c.op.Preconditions, (*unstructured.Unstructured)(nil)
	if c.op.ID != "" || c.op.IgnoreMissingPaths || c.op.StatusPatch && preconditions.UID != nil {
		var err error
		if live, err = c.get(ctx); err != nil || c.wasExecuted(live) {
			return err
		}
		if err := checkPreconditions(live, preconditions); err != nil {
			return err
		}
		preconditions.ResourceVersion = ptr.To(live.GetResourceVersion())
	}
	patch, err := build(live, preconditions)
	switch {
	case err != nil:
		return err
	case patch == nil:
		return c.unchanged(byDiff)
	}
	encoded, err := json.Marshal(patch)
	if err != nil {
		return Malformed.errorf("encoding the patch: %w", err)
	}
	patched, err := c.patch(ctx, kind, encoded)
	if err != nil {
		return err
	}
	c.updated(live, patched)
	return nil
}
