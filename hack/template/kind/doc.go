/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kind adds a kind to the operator, adds versions of it, and removes it again, for make kind, make version and make drop.
//
// [Add] renders the templates into files of the kind's own, registers the constructor of its reconciler, and generates the code. It reads the
// module, the group, the namespace and the names of the operator from the sources, so that it does the same in a fork. [Drop] deletes the files
// whose names contain the kind's, removes the registration and generates again.
//
// The child of a new kind is described in children.go: the fields that the reconciler sets, and the changes that the tests repair.
package kind
