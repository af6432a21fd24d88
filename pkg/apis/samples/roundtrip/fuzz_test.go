/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import "testing"

func FuzzConvert(f *testing.F) { conversionOfAddressableService().Fuzz(f) }
