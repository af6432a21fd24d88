/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package upstream connects the conversions of another project with a comparison. It needs the standard library only, so that the program of
// each project has the dependencies of that project and no others.
package upstream
