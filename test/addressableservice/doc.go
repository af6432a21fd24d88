/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice tests the promises to users of an AddressableService: when it is Ready, with which address, and which objects the
// controller leaves alone.
package addressableservice
