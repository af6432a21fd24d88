/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package crds lists the operator's kinds for suites that test something about each of them: its CRDs, as they are in config/. A kind that
// is added or removed there is added to or removed from these suites.
package crds
