/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package admission tests admission at every version: every
// bound of the schema and every rule of the webhook with what it rejects and the nearest that
// it accepts, what admission fills in and warns of, and which ConfigMaps are looked at.
//
// Other suites test the operator's reaction to admitted objects, and what one
// version shows of an object that was written at another.
package admission
