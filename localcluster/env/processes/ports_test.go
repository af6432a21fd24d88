/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"testing"
)

// Two allocators are two programs: what one was given, and has not opened yet, the other is not given.
func TestPorts_TwoAllocators_NeverReturnTheSame(t *testing.T) {
	const each = 3 * blockSize
	given := map[int]bool{}
	allocators := []*allocator{{}, {}}
	for range each {
		for _, a := range allocators {
			listener, port, err := a.listen(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_ = listener.Close()
			if given[port] {
				t.Errorf("port %d was given out twice", port)
			}
			given[port] = true
		}
	}
	for _, a := range allocators {
		for _, guard := range a.guards {
			_ = guard.Close()
		}
	}
}

// A port on which another program listens is not given out.
func TestPorts_InUse_AreNotReturned(t *testing.T) {
	var a allocator
	listener, port, err := a.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	taken, err := open(t.Context(), port+1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	listener, next, err := a.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if next != port+2 {
		t.Errorf("after %d, with the next one taken, %d is given out", port, next)
	}
	for _, guard := range a.guards {
		_ = guard.Close()
	}
}
