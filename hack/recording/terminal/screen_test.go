/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package terminal

import (
	"slices"
	"testing"
)

func TestScreen_Write_AppliesControlSequences(t *testing.T) {
	for output, want := range map[string][]string{
		"a\r\nb\r\n":                       {"a", "b"},
		"  step …\r\n\x1b[1A\x1b[2K✓ step": {"✓ step"},
		"a\r\nb\r\nc\r\n\x1b[2A\x1b[Jd":    {"a", "d"},
		"12 of 20\r\x1b[K3 left\r\x1b[K":   nil,
		"abc\rx":                           {"xbc"},
	} {
		// Byte by byte, each character and each sequence is divided.
		for _, size := range []int{1, len(output)} {
			var screen Screen
			for part := range slices.Chunk([]byte(output), size) {
				if _, err := screen.Write(part); err != nil {
					t.Fatal(err)
				}
			}
			if got := screen.Lines(); !slices.Equal(got, want) {
				t.Errorf("%q in parts of %d bytes shows %q, want %q", output, size, got, want)
			}
		}
	}
}

func TestScreen_UnknownSequence_IsRejected(t *testing.T) {
	var screen Screen
	if _, err := screen.Write([]byte("\x1b[3H")); err == nil {
		t.Error("got no error")
	}
}
