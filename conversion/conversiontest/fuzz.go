/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"testing"

	"sigs.k8s.io/randfill/bytesource"
)

// Fuzz makes go test -fuzz search for objects that change in a round trip through another version. They are made of the bytes that it
// chooses, as Test makes its own of random numbers.
func (k Kind) Fuzz(f *testing.F) {
	f.Helper()
	f.Add([]byte{})
	f.Add([]byte("every eight bytes are a number that chooses what is where"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range k.Versions {
			object := canonical(t, newFiller(bytesource.New(data), k.Functions).object(t, a))
			for _, b := range k.Versions {
				k.thereAndBack(t, object, a, b)
			}
		}
	})
}
