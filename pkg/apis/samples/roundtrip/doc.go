/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package roundtrip takes random objects of samples.knative.dev through all their versions, and shows what each of these does as
// the others do. It holds tests only.
package roundtrip
