/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package randschema makes random JSON that is valid against the schema of a CustomResourceDefinition's version, for tests of code that has to handle
// everything that the API server admits.
//
// It knows the parts of a structural schema that say what a value looks like, and rejects a schema with others, such as
// anyOf. Rules in CEL are ignored: values may break them.
package randschema
