/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/crud"
)

// typeNames are the operations as files name them: those of crud except for the filters in Go, and the names of shell-operator.
var typeNames = map[string]crud.Type{
	"CreateOrUpdate": crud.TypeCreateOrUpdate, "Create": crud.TypeCreate, "CreateIfNotExists": crud.TypeCreateIfNotExists,
	"EnsureDeleted": crud.TypeEnsureDeleted, "Delete": crud.TypeEnsureDeleted,
	"EnsureDeletedInBackground": crud.TypeEnsureDeletedInBackground, "EnsureDeleteBackground": crud.TypeEnsureDeletedInBackground,
	"EnsureDeletedBackground": crud.TypeEnsureDeletedInBackground, "DeleteInBackground": crud.TypeEnsureDeletedInBackground,
	"EnsureDeletedOrphaning": crud.TypeEnsureDeletedOrphaning, "EnsureDeleteOrphan": crud.TypeEnsureDeletedOrphaning,
	"EnsureDeletedOrphan": crud.TypeEnsureDeletedOrphaning, "DeleteNonCascading": crud.TypeEnsureDeletedOrphaning,
	"JQPatch": crud.TypeJQPatch, "JSONPatch": crud.TypeJSONPatch, "MergePatch": crud.TypeMergePatch,
}

func allTypeNames() []string { return slices.Sorted(maps.Keys(typeNames)) }

// specNames are the names that shell-operator has for spec, and the operations to which they belong.
var specNames = map[string][]crud.Type{
	"object":   {crud.TypeCreateOrUpdate, crud.TypeCreate, crud.TypeCreateIfNotExists},
	"jqFilter": {crud.TypeJQPatch}, "mergePatch": {crud.TypeMergePatch}, "jsonPatch": {crud.TypeJSONPatch},
}

type decoder struct {
	*faults
	file        *File
	op          crud.Operation
	all         []crud.Operation // op, or one for each object of its list
	onHookError bool
	spec        *field
	set         map[string]field // of the operation, by the name that is no alias
}

func decodeHeader(document value, file *File, found *faults) bool {
	options, _ := document.content.(fields)
	if _, isHeader := options[headerFields[0].name]; !isHeader {
		return false
	}
	found.operation = 0
	(&decoder{faults: found, file: file}).decodeFields(options, headerFields)
	found.operation = 1
	return true
}

func (d *decoder) decode(document value) {
	of, isObject := document.content.(fields)
	if !isObject {
		d.addf(document.position, "an operation must be an object, not %s", document.describe())
		return
	}
	d.set = d.decodeFields(of, operationFields)
	typeOf, ok := d.set[typeField]
	if !ok {
		d.addf(document.position, "operationType is missing: use one of %s", strings.Join(allTypeNames(), ", "))
	}
	if d.op.Type != "" {
		d.build(typeOf.position)
	}
	if d.onHookError && !d.op.StatusPatch {
		f := d.set[hookErrorField]
		d.addf(f.position, "%s belongs to patches with statusPatch only: what a failed hook wants done is not known", f.name)
	}
}

// build makes the operation of its type from the fields, and checks that they belong together.
func (d *decoder) build(at position) {
	switch {
	case d.op.Type.Deletes() && d.spec != nil:
		d.addf(d.spec.position, "%s does not have %s", d.op.Type, d.spec.name)
		return
	case d.op.Type.Deletes():
	case d.spec == nil:
		d.addf(at, "%s needs spec", d.op.Type)
		return
	default:
		if owners, isAlias := specNames[d.spec.name]; isAlias && !slices.Contains(owners, d.op.Type) {
			d.addf(d.spec.position, "%s does not belong to %s: use spec", d.spec.name, d.op.Type)
			return
		}
		if !d.buildSpec() {
			return
		}
	}
	d.expand()
	for _, op := range d.all {
		if err := op.Validate(); err != nil {
			name, _, _ := strings.Cut(err.Error(), " ")
			if of, ok := d.set[name]; ok {
				at = of.position
			}
			d.addf(at, "%s", err)
		}
	}
}

// expand adds the operation, or one for each object of a list, as kubectl does. The objects of a list such as a ConfigMapList need no kind.
func (d *decoder) expand() {
	content, _ := d.op.Object.(*unstructured.Unstructured) // nil without an object
	objects := []*unstructured.Unstructured{content}
	if content != nil && content.IsList() && strings.HasSuffix(content.GetKind(), "List") {
		objects = d.items(content)
	}
	for _, object := range objects {
		op := d.op
		if object != nil {
			if !d.adopt(object) {
				continue
			}
			op.Object = object
		}
		d.all = append(d.all, op)
	}
}

func (d *decoder) items(list *unstructured.Unstructured) (objects []*unstructured.Unstructured) {
	err := list.EachListItem(func(item runtime.Object) error {
		object, _ := item.(*unstructured.Unstructured) // as all items are
		if kind := strings.TrimSuffix(list.GetKind(), "List"); kind != "" && object.GetKind() == "" {
			object.SetGroupVersionKind(list.GroupVersionKind().GroupVersion().WithKind(kind))
		}
		objects = append(objects, object)
		return nil
	})
	if err != nil {
		d.addf(d.spec.position, "an item of the list must be an object")
	}
	return objects
}

// adopt completes an object by the reference of the operation, with which it must agree.
func (d *decoder) adopt(content *unstructured.Unstructured) bool {
	for _, name := range []struct{ field, of, in string }{
		{"apiVersion", d.op.APIVersion, content.GetAPIVersion()},
		{"kind", d.op.Kind, content.GetKind()},
		{"namespace", d.op.Namespace, content.GetNamespace()},
		{"name", d.op.Name, content.GetName()},
	} {
		if name.of != "" && name.in != "" && name.of != name.in {
			d.addf(d.set[name.field].position, "%s is %q, and %q in the object", name.field, name.of, name.in)
			return false
		}
	}
	if content.GetNamespace() == "" && d.op.Namespace != "" {
		content.SetNamespace(d.op.Namespace)
	}
	return true
}

func (d *decoder) buildSpec() (ok bool) {
	spec := *d.spec
	text, isText := spec.value.content.(string)
	switch {
	case d.op.Type == crud.TypeJQPatch:
		d.op.JQ, ok = scalar[string](d, spec, "a string")
		return ok
	case isText:
		var err error
		if spec.value.content, err = parseText(text, d.room); err != nil {
			d.addf(spec.value.position, "the text of %s: %s", spec.name, err)
			return false
		}
	}
	if d.op.Type == crud.TypeMergePatch || d.op.Type == crud.TypeJSONPatch {
		d.op.Patch, _ = json.Marshal(spec.value.content) //nolint:errchkjson // it was decoded from JSON
		return true
	}
	object, ok := scalar[map[string]any](d, spec, "an object")
	d.op.Object = &unstructured.Unstructured{Object: object}
	return ok
}

// parseText returns the value of JSON or YAML in a string, as shell-operator's hooks write objects and patches, too. YAML may begin as JSON
// does: {a: b}. The positions in an error are relative to the string.
func parseText(text string, of *room) (any, error) {
	found, err := newReader([]byte(text), of, false).only()
	if err != nil {
		if other, err := newReader([]byte(text), of, true).only(); err == nil {
			return other, nil
		}
	}
	return found, err
}

// only returns the only document, or null without one.
func (r *reader) only() (any, error) {
	found, err := r.read(0)
	if err == nil {
		_, err = r.read(0)
	}
	switch bad, ok := errors.AsType[*positioned](err); {
	case errors.Is(err, io.EOF):
		return found.content, nil
	case ok:
		return nil, fmt.Errorf("%d:%d: %w", bad.line, bad.column, bad)
	case err == nil:
		err = errors.New("it has more than one document: several documents are several operations")
	}
	return nil, err
}
