/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package operations reads files of operations for package crud, as programs in other languages write them: JSON or YAML, one or several
// documents. It checks a file as a whole. Nothing of a file with a mistake is executed, and each mistake is reported with its line, its
// column and the number of its operation, up to ten at once:
//
//	operationType: JQPatch
//	kind: Deployment
//	namespace: default
//	name: nginx
//	spec: .spec.replicas = 3
//
// The first document may be a header, with options such as file: {onFailure: continue, preflight: off}.
//
// The first character decides the format: { is JSON, one object after the other, [ is a JSON list, everything else is YAML. The names of
// shell-operator's fields and operations are accepted, too.
package operations
