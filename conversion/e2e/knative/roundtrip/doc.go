/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package roundtrip takes random objects through both versions. It holds tests only.
package roundtrip
