/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package moduleproxy serves modules of this checkout from a folder, for tests of projects that require them: a module proxy as
// `go help goproxy` describes it, which the go command reads by a file URL.
package moduleproxy
