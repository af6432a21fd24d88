/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
)

// fieldType is a field of an object in a file. schema.json and docs/reference/operation-files.md describe the fields.
type fieldType struct {
	name    string
	decode  func(*decoder, field)
	aliases []string
}

// operationFields are the fields of an operation.
var operationFields = []fieldType{
	{typeField, (*decoder).operationType, []string{"operation"}},
	{"apiVersion", text(func(d *decoder) *string { return &d.op.APIVersion }), nil},
	{"kind", text(func(d *decoder) *string { return &d.op.Kind }), nil},
	{"namespace", text(func(d *decoder) *string { return &d.op.Namespace }), nil},
	{"name", text(func(d *decoder) *string { return &d.op.Name }), nil},
	{specField, func(d *decoder, f field) { d.spec = &f }, []string{"object", "jqFilter", "mergePatch", "jsonPatch"}},
	{"statusPatch", boolean(func(d *decoder) *bool { return &d.op.StatusPatch }), nil},
	{"subresource", (*decoder).subresource, nil},
	{"preconditions", func(d *decoder, f field) { d.object(f, preconditionFields) }, nil},
	{"ignoreMissing", boolean(func(d *decoder) *bool { return &d.op.IgnoreMissing }), []string{"ignoreMissingObject"}},
	{"ignoreMissingPaths", boolean(func(d *decoder) *bool { return &d.op.IgnoreMissingPaths }), nil},
	{"ignoreUnknownKind", boolean(func(d *decoder) *bool { return &d.op.IgnoreUnknownKind }), nil},
	{hookErrorField, boolean(func(d *decoder) *bool { return &d.onHookError }), []string{"ignoreHookError"}},
	{"strategy", choice(func(d *decoder) *crud.Strategy { return &d.op.Strategy }, crud.Merge, crud.Apply), nil},
	{
		"onTerminating",
		choice(func(d *decoder) *crud.OnTerminating { return &d.op.OnTerminating }, crud.Requeue, crud.WaitUntilGone, crud.PatchTerminating), nil,
	},
	{"onImmutable", choice(func(d *decoder) *crud.OnImmutable { return &d.op.OnImmutable }, crud.FailImmutable, crud.Recreate), nil},
	{"ownedBy", text(func(d *decoder) *types.UID { return &d.op.OwnedBy }), nil},
	{"gracePeriodSeconds", func(d *decoder, f field) { d.op.GracePeriodSeconds = d.integer(f) }, nil},
	{"wait", (*decoder).wait, nil},
}

// Fields that depend on others.
const typeField, specField, hookErrorField = "operationType", "spec", "applyOnHookError"

// headerFields are the fields of a header, which has nothing but file, and fileFields those of file.
var (
	preconditionFields = []fieldType{
		{"uid", func(d *decoder, f field) { d.op.Preconditions.UID = new(types.UID(d.text(f))) }, nil},
		{"resourceVersion", func(d *decoder, f field) { d.op.Preconditions.ResourceVersion = new(d.text(f)) }, nil},
	}
	headerFields = []fieldType{{"file", func(d *decoder, f field) { d.object(f, fileFields) }, nil}}
	fileFields   = []fieldType{
		{"onFailure", func(d *decoder, f field) { d.file.Continue = d.choice(f, "stop", "continue") == "continue" }, nil},
		{"dryRun", boolean(func(d *decoder) *bool { return &d.file.DryRun }), nil},
		{"preflight", func(d *decoder, f field) { d.file.SkipPreflight = d.choice(f, "full", "static", "off") != "full" }, nil},
	}
)

func text[T ~string](target func(*decoder) *T) func(*decoder, field) {
	return func(d *decoder, f field) { *target(d) = T(d.text(f)) }
}

func boolean(target func(*decoder) *bool) func(*decoder, field) {
	return func(d *decoder, f field) { *target(d) = d.boolean(f) }
}

func choice[T ~string](target func(*decoder) *T, values ...T) func(*decoder, field) {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = string(value)
	}
	return func(d *decoder, f field) { *target(d) = T(d.choice(f, names...)) }
}
