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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// Validate returns the first mistake of an operation that can be found without the API server, or nil. Run validates, too.
func (o Operation) Validate() error {
	err := o.err
	if _, ok := executions[o.Type]; err == nil && !ok {
		err = fmt.Errorf("operationType %q does not exist", o.Type)
	}
	for _, check := range []func() error{o.checkOptions, o.checkSpec, o.checkRef} {
		if err == nil {
			err = check()
		}
	}
	if err != nil {
		return Malformed.of(err)
	}
	return nil
}

func (o Operation) checkSpec() error {
	var err error
	switch o.Type {
	case TypeCreateOrUpdate, TypeCreate, TypeCreateIfNotExists, TypeFilterPatchOptimistic:
		if isNil(o.Object) {
			err = errors.New("the object is missing")
		}
	case TypeJQPatch:
		err = child.Compile(o.JQ)
	case TypeJSONPatch:
		_, err = decodeJSONPatch(o.Patch)
	case TypeMergePatch:
		_, err = decodeMergePatch(o.Patch)
	case TypeFilterPatch:
		if o.change == nil {
			err = errors.New("the function is missing: use crud.FilterPatch")
		}
	default: // deletions have nothing but their reference
	}
	return err
}

// checkRef checks the reference. The kind of a typed object is known to the client's scheme only.
func (o Operation) checkRef() error {
	ref, generated := o.Target(), false
	typed := o.sample != nil && ref.Kind == ""
	if !isNil(o.Object) {
		_, untyped := o.Object.(*unstructured.Unstructured)
		typed, generated = !untyped, o.Object.GetGenerateName() != ""
	}
	switch {
	case ref.Kind == "" && !typed:
		return errors.New("kind is missing")
	case ref.Name == "" && generated && o.Type != TypeCreate:
		return fmt.Errorf("name is missing: %s with generateName would create another object each time", o.Type)
	case ref.Name == "" && !generated:
		return errors.New("name is missing")
	}
	for _, part := range []struct{ name, value string }{{"name", ref.Name}, {"namespace", ref.Namespace}} {
		if faults := path.IsValidPathSegmentName(part.value); len(faults) > 0 {
			return fmt.Errorf("%s %q %s", part.name, part.value, strings.Join(faults, ", "))
		}
	}
	return nil
}

var (
	creations = []Type{TypeCreateOrUpdate, TypeCreate, TypeCreateIfNotExists}
	patches   = []Type{TypeFilterPatch, TypeFilterPatchOptimistic, TypeJQPatch, TypeJSONPatch, TypeMergePatch}
	deletions = []Type{TypeEnsureDeleted, TypeEnsureDeletedInBackground, TypeEnsureDeletedOrphaning}
	upsert    = []Type{TypeCreateOrUpdate}
	withIDs   = []Type{TypeCreate, TypeJSONPatch, TypeJQPatch, TypeFilterPatch}
)

// checkOptions rejects an option that the type does not have, since an option that is ignored is a surprise.
func (o Operation) checkOptions() error {
	for _, option := range []struct {
		name string
		set  bool
		of   []Type
	}{
		{"statusPatch", o.StatusPatch, patches},
		{"ignoreMissing", o.IgnoreMissing, patches},
		{"ignoreMissingPaths", o.IgnoreMissingPaths, []Type{TypeJSONPatch}},
		{"strategy", o.Strategy != "", upsert},
		{"onImmutable", o.OnImmutable != "", upsert},
		{"gracePeriodSeconds", o.GracePeriodSeconds != nil, deletions},
		{"id", o.ID != "", withIDs},
		{"wait", o.Wait != 0, slices.Concat(deletions, upsert)},
		{"preconditions", o.Preconditions != (metav1.Preconditions{}), slices.Concat(deletions, upsert, patches)},
		{"ownedBy", o.OwnedBy != "", slices.Concat(deletions, upsert, []Type{TypeFilterPatch, TypeJQPatch})},
	} {
		if option.set && !slices.Contains(option.of, o.Type) {
			return fmt.Errorf("%s does not belong to %s, but to %s", option.name, o.Type, list(names(option.of, func(t Type) string { return string(t) })))
		}
	}
	if faults := validation.IsValidLabelValue(o.ID); len(faults) > 0 {
		return fmt.Errorf("id %q is not valid as the value of a label: %s", o.ID, strings.Join(faults, ", "))
	}
	switch {
	case o.ID != "" && o.StatusPatch:
		return errors.New("id does not belong to a patch of the status: the API server would not store it")
	case o.GracePeriodSeconds != nil && *o.GracePeriodSeconds < 0:
		return fmt.Errorf("gracePeriodSeconds is %d: it must not be negative", *o.GracePeriodSeconds)
	case !slices.Contains([]Strategy{"", Merge, Apply}, o.Strategy):
		return fmt.Errorf("strategy %q does not exist: use %s or %s", o.Strategy, Merge, Apply)
	case !slices.Contains([]OnImmutable{"", FailImmutable, Recreate}, o.OnImmutable):
		return fmt.Errorf("onImmutable %q does not exist: use %s or %s", o.OnImmutable, FailImmutable, Recreate)
	}
	return nil
}

// prepare validates the operation and completes its reference: from its object, or from the type of its filter.
func (c *call) prepare() error {
	if err := c.op.Validate(); err != nil {
		return err
	}
	if c.op.Type == TypeJQPatch {
		c.op.change = jqChange(c.op.JQ)
	}
	if err := c.prepareObject(); err != nil {
		return Malformed.of(err)
	}
	return nil
}

func (c *call) prepareObject() error {
	if _, untyped := c.op.sample.(*unstructured.Unstructured); c.op.sample != nil && !untyped {
		gvk, err := c.gvkOf(c.op.sample)
		if c.sampled = gvk; c.op.Kind == "" {
			c.op.APIVersion, c.op.Kind = gvk.GroupVersion().String(), gvk.Kind
		}
		return err
	}
	if c.op.Object == nil {
		return nil
	}
	gvk, unknown := c.gvkOf(c.op.Object)
	content, invalid := fields(c.op.Object)
	if err := errors.Join(unknown, invalid); err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(gvk)
	c.object = object
	c.op.Ref = Ref{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
	if c.op.Type == TypeCreate || c.op.Type == TypeCreateIfNotExists {
		return nil // they change no object that exists
	}
	if uid := object.GetUID(); uid != "" && c.op.Preconditions.UID == nil {
		c.op.Preconditions.UID = &uid
	}
	version := object.GetResourceVersion()
	if version != "" && c.op.Preconditions.ResourceVersion == nil {
		c.op.Preconditions.ResourceVersion = &version
	}
	if c.op.Type == TypeFilterPatchOptimistic && version == "" {
		return errors.New("the snapshot has no resourceVersion: it must be an object as the API server returned it")
	}
	return nil
}
