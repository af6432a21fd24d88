/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
)

// fieldType is a field of an object in a file. The parser reads files by these tables, and Schema describes them.
type fieldType struct {
	name    string
	aliases []string
	about   string
	value   format
}

// format is the type of a field.
type format struct {
	schema jsonSchema
	// example is a value, and unset one that means the same as no field, or nil.
	example, unset any
	decode         func(*decoder, field)
}

// operationFields are the fields of an operation.
var operationFields = []fieldType{
	{typeField, []string{"operation"}, "What is done.", format{jsonSchema{"enum": allTypeNames()}, crud.TypeCreate, nil, (*decoder).operationType}},
	{
		"apiVersion", nil, "Group and version, such as apps/v1. Optional if only one group has the kind.",
		text(func(d *decoder) *string { return &d.op.APIVersion }),
	},
	{"kind", nil, "Kind, or the plural, singular or short name of its resource.", text(func(d *decoder) *string { return &d.op.Kind })},
	{"namespace", nil, "Namespace of the object. Kinds without namespaces have none. Others need one: without it, cmd/crud uses " +
		"that of its flag or kubeconfig, and a hook fails with ScopeMismatch.", text(func(d *decoder) *string { return &d.op.Namespace })},
	{"name", nil, "Name of the object.", text(func(d *decoder) *string { return &d.op.Name })},
	{
		specField,
		[]string{"object", "jqFilter", "mergePatch", "jsonPatch"},
		"The object, the jq program or the patch.",
		format{jsonSchema{}, nil, nil, func(d *decoder, f field) { d.spec = &f }},
	},
	{"statusPatch", nil, "Sends the patch to the status subresource.", boolean(func(d *decoder) *bool { return &d.op.StatusPatch })},
	{
		"subresource", nil, "The value status is the same as statusPatch: true.",
		format{jsonSchema{"enum": []string{"", "status", "/status"}}, "status", "", (*decoder).subresource},
	},
	{
		"preconditions", nil, "Rejects another object of the same name, or another state of the object.",
		format{objectSchema(preconditionFields), jsonSchema{"uid": "a"}, jsonSchema{}, func(d *decoder, f field) { d.object(f, preconditionFields) }},
	},
	{
		"ignoreMissing",
		[]string{"ignoreMissingObject"},
		"Makes a patch of an object that does not exist succeed.",
		boolean(func(d *decoder) *bool { return &d.op.IgnoreMissing }),
	},
	{
		"ignoreMissingPaths", nil, "Leaves out removals of a JSON patch whose path does not exist.",
		boolean(func(d *decoder) *bool { return &d.op.IgnoreMissingPaths }),
	},
	{
		"ignoreUnknownKind", nil, "Makes a deletion succeed if the API server does not serve the kind.",
		boolean(func(d *decoder) *bool { return &d.op.IgnoreUnknownKind }),
	},
	{
		hookErrorField,
		[]string{"ignoreHookError"},
		"Executes a patch of the status although the hook failed.",
		boolean(func(d *decoder) *bool { return &d.onHookError }),
	},
	{
		"strategy", nil, "How an object that exists is changed.",
		choice(func(d *decoder) *crud.Strategy { return &d.op.Strategy }, crud.Merge, crud.Apply),
	},
	{
		"onTerminating", nil, "What happens with an object that is being deleted.",
		choice(func(d *decoder) *crud.OnTerminating { return &d.op.OnTerminating }, crud.Requeue, crud.WaitUntilGone, crud.PatchTerminating),
	},
	{
		"onImmutable", nil, "What happens if a field cannot be changed.",
		choice(func(d *decoder) *crud.OnImmutable { return &d.op.OnImmutable }, crud.FailImmutable, crud.Recreate),
	},
	{"ownedBy", nil, "UID of the controller that an object must have to be changed or deleted.", text(func(d *decoder) *types.UID { return &d.op.OwnedBy })},
	{"gracePeriodSeconds", nil, "Replaces the grace period that the object has for its deletion.", format{
		jsonSchema{"type": "integer", "minimum": 0}, 0, nil, func(d *decoder, f field) { d.op.GracePeriodSeconds = d.integer(f) },
	}},
	{"wait", nil, "How long a deletion is waited for, such as 30s.", format{jsonSchema{"type": "string", "pattern": duration}, "1s", "0s", (*decoder).wait}},
}

// Fields that depend on others.
const typeField, specField, hookErrorField = "operationType", "spec", "applyOnHookError"

// duration matches what time.ParseDuration accepts and is not negative.
const duration = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// preconditionFields are the fields of preconditions.
var preconditionFields = []fieldType{
	{"uid", nil, "UID that the object must have.", format{jsonSchema{"type": "string"}, "a", nil, func(d *decoder, f field) {
		d.op.Preconditions.UID = new(types.UID(d.text(f)))
	}}},
	{"resourceVersion", nil, "Version that the object must have.", format{jsonSchema{"type": "string"}, "a", nil, func(d *decoder, f field) {
		d.op.Preconditions.ResourceVersion = new(d.text(f))
	}}},
}

// headerFields are the fields of a header, which has nothing but file, and fileFields those of file.
var (
	headerFields = []fieldType{{"file", nil, "Options of the file.", format{objectSchema(fileFields), jsonSchema{}, nil, func(d *decoder, f field) {
		d.object(f, fileFields)
	}}}}
	fileFields = []fieldType{
		{"onFailure", nil, "What happens after an operation that fails.", chosen(func(d *decoder, choice string) {
			d.file.Continue = choice == "continue"
		}, "stop", "continue")},
		{"dryRun", nil, "Changes nothing.", boolean(func(d *decoder) *bool { return &d.file.DryRun })},
		{"preflight", nil, "What is checked before the first operation. The file itself is always checked.", chosen(func(d *decoder, choice string) {
			d.file.SkipPreflight = choice != "full"
		}, "full", "static", "off")},
	}
)

func text[T ~string](target func(*decoder) *T) format {
	return format{jsonSchema{"type": "string"}, "a", "", func(d *decoder, f field) { *target(d) = T(d.text(f)) }}
}

func boolean(target func(*decoder) *bool) format {
	return format{jsonSchema{"type": "boolean"}, true, false, func(d *decoder, f field) { *target(d) = d.boolean(f) }}
}

func choice[T ~string](target func(*decoder) *T, values ...T) format {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = string(value)
	}
	return chosen(func(d *decoder, choice string) { *target(d) = T(choice) }, names...)
}

func chosen(set func(*decoder, string), values ...string) format {
	return format{jsonSchema{"enum": values}, values[0], nil, func(d *decoder, f field) { set(d, d.choice(f, values...)) }}
}
