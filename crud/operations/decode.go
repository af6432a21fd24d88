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
	header := *found
	header.operation = 0
	d := &decoder{faults: &header, file: file}
	d.decodeFields(options, headerFields)
	found.found = header.found
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
	items, _ := list.Object["items"].([]any) // checked
	for i, item := range items {
		fields, isObject := item.(map[string]any)
		if !isObject {
			d.addf(d.spec.position, "items[%d] must be an object", i)
			continue
		}
		object := &unstructured.Unstructured{Object: fields}
		if kind := strings.TrimSuffix(list.GetKind(), "List"); kind != "" && object.GetKind() == "" {
			object.SetAPIVersion(list.GetAPIVersion())
			object.SetKind(kind)
		}
		objects = append(objects, object)
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

func (d *decoder) buildSpec() bool {
	spec := d.spec.value
	text, isText := spec.content.(string)
	if d.op.Type == crud.TypeJQPatch {
		if d.op.JQ = text; !isText {
			d.addf(spec.position, "%s must be a string, not %s", d.spec.name, spec.describe())
		}
		return isText
	}
	if isText {
		inner, err := parseText(text, d.room)
		if err != nil {
			d.addf(spec.position, "the text of %s: %s", d.spec.name, err)
			return false
		}
		inner.position = spec.position
		spec = inner
	}
	switch d.op.Type {
	case crud.TypeMergePatch, crud.TypeJSONPatch:
		encoded, err := json.Marshal(spec.content)
		if d.op.Patch = encoded; err != nil {
			d.addf(spec.position, "%s: %s", d.spec.name, err)
		}
		return err == nil
	default:
		fields, isObject := spec.content.(map[string]any)
		d.op.Object = &unstructured.Unstructured{Object: fields}
		if !isObject {
			d.addf(spec.position, "%s must be an object, not %s", d.spec.name, spec.describe())
		}
		return isObject
	}
}

// parseText returns the value of JSON or YAML in a string, as shell-operator's hooks write objects and patches, too. YAML may begin as JSON
// does: {a: b}. The positions in the value are relative to the string.
func parseText(text string, of *room) (value, error) {
	content := []byte(text)
	found, err := only(reader(content, of))
	if err != nil {
		if other, err := only(newYAMLReader(content, of).read); err == nil {
			return other, nil
		}
	}
	return found, err
}

// only returns the only document of a reader, or null without one.
func only(read func(outer int) (value, error)) (value, error) {
	found, err := read(0)
	if errors.Is(err, io.EOF) {
		return value{}, nil
	}
	if err == nil {
		_, err = read(0)
	}
	switch bad, ok := errors.AsType[*positioned](err); {
	case errors.Is(err, io.EOF):
		return found, nil
	case err == nil:
		return found, errors.New("it has more than one document: several documents are several operations")
	case ok:
		return found, fmt.Errorf("%d:%d: %w", bad.line, bad.column, bad)
	}
	return found, err
}
