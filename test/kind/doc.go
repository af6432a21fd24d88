/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kind tests make kind, make version and make drop in a copy of the repository, with the commands of docs/how-to/add-a-kind.md. The tests of package
// hack/template/kind cover the combinations of variables.
package kind
