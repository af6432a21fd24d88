/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// prepare checks an operation as far as that is possible without the API server, and completes its reference from its object.
func (c *call) prepare() error {
	if err := c.op.err; err != nil {
		return &classified{Malformed, err}
	}
	if _, ok := executions[c.op.Type]; !ok {
		return &classified{Malformed, fmt.Errorf("operationType %q does not exist", c.op.Type)}
	}
	if err := errors.Join(c.prepareObject(), c.checkOptions()); err != nil {
		return &classified{Malformed, err}
	}
	if c.op.Kind == "" {
		return &classified{Malformed, errors.New("kind is missing")}
	}
	if c.op.Name == "" && !c.generatesName() {
		return &classified{Malformed, errors.New("name is missing")}
	}
	if faults := path.IsValidPathSegmentName(c.op.Name); len(faults) > 0 {
		return &classified{Malformed, fmt.Errorf("name %q %s", c.op.Name, strings.Join(faults, ", "))}
	}
	return nil
}

func (c *call) generatesName() bool {
	object, ok := c.op.object.(*unstructured.Unstructured)
	return c.op.Type == TypeCreate && ok && object.GetGenerateName() != ""
}

// prepareObject makes the operation's object an unstructured one. Operations with a desired state or a snapshot take their reference and
// preconditions from it; those with a reference take the kind from the type of their filter.
func (c *call) prepareObject() error {
	if c.op.object == nil {
		return nil
	}
	gvk, err := c.gvkOf(c.op.object)
	if c.op.Type == TypeFilterPatch {
		if _, generic := c.op.object.(*unstructured.Unstructured); !generic && err == nil && c.op.Kind == "" {
			c.op.APIVersion, c.op.Kind = gvk.GroupVersion().String(), gvk.Kind
		}
		if c.op.Kind != "" {
			err = nil
		}
		return err
	}
	if err != nil {
		return err
	}
	content, err := fields(c.op.object)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}
	object.SetGroupVersionKind(gvk)
	c.op.object = object
	c.op.Ref = Ref{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
	if uid := object.GetUID(); uid != "" && c.op.Preconditions.UID == nil {
		c.op.Preconditions.UID = &uid
	}
	if version := object.GetResourceVersion(); version != "" && c.op.Preconditions.ResourceVersion == nil {
		c.op.Preconditions.ResourceVersion = &version
	}
	if c.op.Type == TypeFilterPatchOptimistic && object.GetResourceVersion() == "" {
		return errors.New("the snapshot has no resourceVersion: it must be an object as the API server returned it")
	}
	return nil
}

var (
	patches   = []Type{TypeFilterPatch, TypeFilterPatchOptimistic, TypeJQPatch, TypeJSONPatch, TypeMergePatch}
	deletions = []Type{TypeEnsureDeleted, TypeEnsureDeletedInBackground, TypeEnsureDeletedOrphaning}
	upsert    = []Type{TypeCreateOrUpdate}
)

// checkOptions rejects an option that the type does not have, since an option that is ignored is a surprise.
func (c *call) checkOptions() error {
	op, upsert := c.op, upsert
	for _, option := range []struct {
		name string
		set  bool
		of   []Type
	}{
		{"statusPatch", op.StatusPatch, patches},
		{"ignoreMissing", op.IgnoreMissing, patches},
		{"ignoreMissingPaths", op.IgnoreMissingPaths, []Type{TypeJSONPatch}},
		{"ignoreUnknownKind", op.IgnoreUnknownKind, deletions},
		{"strategy", op.Strategy != "", upsert},
		{"onTerminating", op.OnTerminating != "", upsert},
		{"onImmutable", op.OnImmutable != "", upsert},
		{"wait", op.Wait != 0, slices.Concat(deletions, upsert)},
	} {
		if option.set && !slices.Contains(option.of, op.Type) {
			return fmt.Errorf("%s does not belong to %s, but to %s", option.name, op.Type, list(names(option.of, func(t Type) string { return string(t) })))
		}
	}
	for name, value := range map[string]struct{ value, allowed string }{
		"strategy":      {string(op.Strategy), "merge apply"},
		"onTerminating": {string(op.OnTerminating), "requeue wait patch"},
		"onImmutable":   {string(op.OnImmutable), "fail recreate"},
	} {
		if allowed := strings.Fields(value.allowed); value.value != "" && !slices.Contains(allowed, value.value) {
			return fmt.Errorf("%s %q does not exist: use %s", name, value.value, strings.Join(allowed, " or "))
		}
	}
	return nil
}
