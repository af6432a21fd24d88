/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fork makes a fork of this repository: an operator with new names and, on request, with fewer kinds, versions and products. It works
// in a temporary folder next to the folder of the fork, and renames it at the end.
//
//	arguments   the variables of make fork, all of which are validated before a file is written
//	tree        the files of the template's commit
//	parts       kinds, versions and products, with their files and lines
//	names       the names of the template and those of the fork
//	exceptions  the names of the template that stay
//	run         the steps
package fork
