/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package samples holds the names of the API group samples.knative.dev that do not depend on a version: what all kinds share, and
// in a file for each kind its annotations, labels and finalizer. The types are in the packages of their versions.
//
// The names of a kind are not in the package of its version because package config needs one of them, which that one imports.
package samples
