/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import "testing"

func TestConvert_OneObject_MakesFewAllocations(t *testing.T) {
	conversionOfAddressableService().TestAllocations(t)
}
