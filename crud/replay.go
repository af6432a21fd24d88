/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	idLabel = "crud.mallard.dev/operation"
	// idAnnotation is the annotation with the ids of the last operations that patched an object, oldest first.
	idAnnotation = "crud.mallard.dev/operations"
	// keptIDs is the number of ids in the annotation, unless a task has more. An operation whose id it has lost would be executed again.
	keptIDs = 64
	// taskLength is the length of the part of an id that all operations of a plan have.
	taskLength = 8
	// maxNameBase is the length to which the API server shortens generateName (k8s.io/apiserver/pkg/storage/names), less that of our suffix.
	maxNameBase = 63 - suffixLength
	// suffixLength is more than the 5 of the API server: nothing retries after a collision.
	suffixLength = 10
)

// identified returns the operations of the plan. With a task, each that must not be executed twice has an id.
func (p Plan) identified() []Operation {
	if p.Task == "" {
		return p.Operations
	}
	operations, equal := slices.Clone(p.Operations), map[string]int{}
	task := digest([]byte(p.Task))[:taskLength]
	for i, op := range operations {
		if op.ID != "" || op.StatusPatch || !op.mayRepeatEffect() {
			continue
		}
		// Run reports why an object cannot be encoded.
		if encoded, err := json.Marshal([]any{op.Type, op.Ref, op.Object, string(op.Patch), op.JQ}); err == nil {
			content := digest(encoded)
			equal[content]++
			id := digest(fmt.Append(nil, p.Task, " ", content, " ", equal[content]))
			operations[i].ID, operations[i].task = task+id[taskLength:], task
		}
	}
	return operations
}

// mayRepeatEffect reports whether the operation may have another effect if it is executed twice. For filters that is known when they run only.
func (o Operation) mayRepeatEffect() bool {
	return slices.Contains(withIDs, o.Type) && (o.Type != TypeJSONPatch || !o.Repeatable())
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// markNew writes the id of the operation into an object before it is created. A name that the API server would generate becomes one that follows
// from the id: two requests, of which the first might not have been executed yet, cannot both succeed.
func (c *call) markNew(object *unstructured.Unstructured) {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[idLabel] = c.op.ID
	object.SetLabels(labels)
	if object.GetName() == "" {
		base := object.GetGenerateName()
		c.op.Name = base[:min(len(base), maxNameBase)] + digest([]byte(c.op.ID))[:suffixLength]
		object.SetName(c.op.Name)
	}
}

// wasExecuted reports whether the operation has changed the object before, and sets the outcome.
func (c *call) wasExecuted(live *unstructured.Unstructured) bool {
	if c.op.ID == "" || live.GetLabels()[idLabel] != c.op.ID && !slices.Contains(ids(live), c.op.ID) {
		return false
	}
	c.result.Outcome = Replayed
	return true
}

func ids(object *unstructured.Unstructured) []string {
	return strings.Fields(object.GetAnnotations()[idAnnotation])
}

// withID returns the annotation with the id of the operation. It forgets the oldest ones, but none of the same task.
func (c *call) withID(live *unstructured.Unstructured) string {
	all := append(ids(live), c.op.ID)
	for len(all) > keptIDs && (c.op.task == "" || !strings.HasPrefix(all[0], c.op.task)) {
		all = all[1:]
	}
	return strings.Join(all, " ")
}

func (c *call) marked(live *unstructured.Unstructured, after map[string]any) map[string]any {
	object := runtime.DeepCopyJSON(after)
	_ = unstructured.SetNestedField(object, c.withID(live), "metadata", "annotations", idAnnotation) // the API server rejects annotations that are no object
	return object
}

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
