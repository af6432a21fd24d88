/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package strict lets a parser of ConfigMaps accept only known keys with valid values. The parsers of knative.dev/pkg ignore unknown keys, and
// not all of their errors name the key.
package strict
