/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressbinding tests the promises to users of an AddressBinding: which subjects get the variable and lose it, that nothing else of them
// changes, which conflicts are reported, and how many requests all of that takes.
package addressbinding
