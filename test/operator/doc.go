/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package operator tests what holds for every kind: permissions, overlays, availability, costs and faults. It knows no kind by name. Its objects are
// those of samples/, so that a kind which is added or removed needs no change here. Suites of a kind test the rest.
package operator
