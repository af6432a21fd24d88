/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
)

// typeNames are the operations as files name them: those of crud but for the filters in Go, and the names of shell-operator.
var typeNames = map[string]crud.Type{
	"CreateOrUpdate": crud.TypeCreateOrUpdate, "Create": crud.TypeCreate, "CreateIfNotExists": crud.TypeCreateIfNotExists,
	"EnsureDeleted": crud.TypeEnsureDeleted, "Delete": crud.TypeEnsureDeleted,
	"EnsureDeletedInBackground": crud.TypeEnsureDeletedInBackground, "EnsureDeleteBackground": crud.TypeEnsureDeletedInBackground,
	"EnsureDeletedBackground": crud.TypeEnsureDeletedInBackground, "DeleteInBackground": crud.TypeEnsureDeletedInBackground,
	"EnsureDeletedOrphaning": crud.TypeEnsureDeletedOrphaning, "EnsureDeleteOrphan": crud.TypeEnsureDeletedOrphaning,
	"EnsureDeletedOrphan": crud.TypeEnsureDeletedOrphaning, "DeleteNonCascading": crud.TypeEnsureDeletedOrphaning,
	"JQPatch": crud.TypeJQPatch, "JSONPatch": crud.TypeJSONPatch, "MergePatch": crud.TypeMergePatch,
}

// specNames are the names that shell-operator has for spec, and the operations to which they belong.
var specNames = map[string][]crud.Type{
	"object":   {crud.TypeCreateOrUpdate, crud.TypeCreate, crud.TypeCreateIfNotExists},
	"jqFilter": {crud.TypeJQPatch}, "mergePatch": {crud.TypeMergePatch}, "jsonPatch": {crud.TypeJSONPatch},
}

// aliases are other names of fields.
var aliases = map[string]string{
	"operation": "operationType", "object": "spec", "jqFilter": "spec", "mergePatch": "spec", "jsonPatch": "spec",
	"ignoreMissingObject": "ignoreMissing",
}

// decoder decodes one operation.
type decoder struct {
	*faults
	op   crud.Operation
	spec *field
	set  map[string]field // by the name that is no alias
}

func decode(document value, found *faults) crud.Operation {
	d := &decoder{faults: found, set: map[string]field{}}
	if document.kind != object {
		d.addf(document.position, "an operation must be an object, not %s", document.describe())
		return d.op
	}
	for _, f := range document.fields {
		d.field(f)
	}
	typeOf, ok := d.set["operationType"]
	if !ok {
		d.addf(document.position, "operationType is missing: use one of %s", strings.Join(slices.Sorted(maps.Keys(typeNames)), ", "))
	}
	if d.op.Type != "" {
		d.build(typeOf.position)
	}
	return d.op
}

// fieldNames are the fields of an operation that are no alias.
var fieldNames = []string{
	"operationType", "apiVersion", "kind", "namespace", "name", "statusPatch", "subresource", "spec", "preconditions", "ignoreMissing",
	"ignoreMissingPaths", "ignoreUnknownKind", "strategy", "onTerminating", "onImmutable", "ownedBy", "wait",
}

func (d *decoder) field(f field) {
	name := f.name
	if other, ok := aliases[name]; ok {
		name = other
	}
	if !slices.Contains(fieldNames, name) {
		d.addf(f.position, "field %s does not exist%s", f.name, suggest(f.name, slices.Concat(fieldNames, slices.Sorted(maps.Keys(aliases)))))
		return
	}
	if before, ok := d.set[name]; ok {
		d.addf(f.position, "%s is set already at %d:%d", f.name, before.line, before.column)
		return
	}
	d.set[name] = f
	switch name {
	case "operationType":
		text := d.text(f)
		if d.op.Type = typeNames[text]; text != "" && d.op.Type == "" {
			d.addf(f.value.position, "operation %s does not exist%s", text, suggest(text, slices.Sorted(maps.Keys(typeNames))))
		}
	case "apiVersion":
		d.op.APIVersion = d.text(f)
	case "kind":
		d.op.Kind = d.text(f)
	case "namespace":
		d.op.Namespace = d.text(f)
	case "name":
		d.op.Name = d.text(f)
	case "statusPatch":
		d.op.StatusPatch = d.boolean(f)
	case "subresource":
		d.subresource(f)
	case "ignoreMissing":
		d.op.IgnoreMissing = d.boolean(f)
	case "ignoreMissingPaths":
		d.op.IgnoreMissingPaths = d.boolean(f)
	case "ignoreUnknownKind":
		d.op.IgnoreUnknownKind = d.boolean(f)
	case "strategy":
		d.op.Strategy = crud.Strategy(d.text(f))
	case "onTerminating":
		d.op.OnTerminating = crud.OnTerminating(d.text(f))
	case "onImmutable":
		d.op.OnImmutable = crud.OnImmutable(d.text(f))
	case "ownedBy":
		d.op.OwnedBy = types.UID(d.text(f))
	case "wait":
		d.wait(f)
	case "preconditions":
		d.preconditions(f)
	case "spec":
		d.spec = &f
	}
}

func suggest(name string, names []string) string {
	least, closest := 1+len(name)/3, ""
	for _, other := range names {
		if distance := levenshtein.Distance(strings.ToLower(name), strings.ToLower(other), nil); distance < least {
			least, closest = distance, other
		}
	}
	if closest == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", closest)
}

func (d *decoder) text(f field) string {
	text, ok := f.value.scalar.(string)
	if !ok {
		d.addf(f.value.position, "%s must be a string, not %s", f.name, f.value.describe())
	}
	return text
}

func (d *decoder) boolean(f field) bool {
	is, ok := f.value.scalar.(bool)
	if !ok {
		d.addf(f.value.position, "%s must be true or false, not %s", f.name, f.value.describe())
	}
	return is
}

func (d *decoder) subresource(f field) {
	switch name := d.text(f); name {
	case "", "status", "/status":
		d.op.StatusPatch = d.op.StatusPatch || name != ""
	default:
		d.addf(f.value.position, "subresource must be status")
	}
}

func (d *decoder) wait(f field) {
	wait, err := time.ParseDuration(d.text(f))
	if err != nil || wait < 0 {
		d.addf(f.value.position, "wait must be a duration with its unit such as 30s, and not negative")
	}
	d.op.Wait = wait
}

func (d *decoder) preconditions(f field) {
	if f.value.kind != object {
		d.addf(f.value.position, "preconditions must be an object, not %s", f.value.describe())
	}
	for _, inner := range f.value.fields {
		switch inner.name {
		case "uid":
			uid := types.UID(d.text(inner))
			d.op.Preconditions.UID = &uid
		case "resourceVersion":
			version := d.text(inner)
			d.op.Preconditions.ResourceVersion = &version
		default:
			d.addf(inner.position, "preconditions has no field %s: use uid or resourceVersion", inner.name)
		}
	}
}

// build makes the operation of its type from the fields, and checks that they belong together.
func (d *decoder) build(at position) {
	switch {
	case d.isDeletion() && d.spec != nil:
		d.addf(d.spec.position, "%s does not have %s", d.op.Type, d.spec.name)
		return
	case d.isDeletion():
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
	if err := d.op.Validate(); err != nil {
		d.addf(at, "%s", err)
	}
}

func (d *decoder) isDeletion() bool {
	return d.op.Type == crud.TypeEnsureDeleted || d.op.Type == crud.TypeEnsureDeletedInBackground || d.op.Type == crud.TypeEnsureDeletedOrphaning
}

func (d *decoder) buildSpec() bool {
	spec := d.spec.value
	switch d.op.Type {
	case crud.TypeJQPatch:
		text, ok := spec.scalar.(string)
		if d.op.JQ = text; !ok {
			d.addf(spec.position, "%s must be a string, not %s", d.spec.name, spec.describe())
		}
		return ok
	case crud.TypeMergePatch, crud.TypeJSONPatch:
		if text, ok := spec.scalar.(string); ok {
			d.op.Patch = json.RawMessage(text)
			return true
		}
		encoded, err := json.Marshal(spec.plain())
		if d.op.Patch = encoded; err != nil {
			d.addf(spec.position, "%s: %s", d.spec.name, err)
		}
		return err == nil
	default:
		return d.buildObject(spec)
	}
}

// buildObject takes the object, with whose reference the fields of the operation must agree.
func (d *decoder) buildObject(spec value) bool {
	if spec.kind != object {
		d.addf(spec.position, "%s must be an object, not %s", d.spec.name, spec.describe())
		return false
	}
	fields, _ := spec.plain().(map[string]any) // checked
	content := &unstructured.Unstructured{Object: fields}
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
	d.op.Object = content
	return true
}
