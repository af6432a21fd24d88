/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"errors"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAddresses_AssignAndRelease_AreUnique(t *testing.T) {
	a := NewAddresses()
	take := func(pod types.UID) string {
		t.Helper()
		address, err := a.Take(pod)
		if err != nil {
			t.Fatal(err)
		}
		return address.String()
	}
	one := take("one")
	if one == NodeIP || take("one") != one {
		t.Errorf("the first Pod gets %s, then %s", one, take("one"))
	}
	two := take("two")
	if two == one {
		t.Errorf("two Pods have %s", one)
	}
	a.free("one")
	if three := take("three"); three == one {
		t.Errorf("the address %s is given away again at once", one)
	}
	// After a restart, Pods come with the addresses that they had.
	a.keep("old", "10.244.0.5")
	a.keep("other", "10.244.0.5")
	a.keep("node", NodeIP)
	a.keep("foreign", "192.0.2.1")
	a.keep("none", "")
	if got := take("old"); got != "10.244.0.5" {
		t.Errorf("a Pod with an address gets %s", got)
	}
	for _, pod := range []types.UID{"other", "node", "foreign", "none"} {
		if got := take(pod); got == "10.244.0.5" || got == NodeIP || got == "192.0.2.1" {
			t.Errorf("the Pod %s has %s", pod, got)
		}
	}
}

func TestAddresses_Exhausted_ReturnsError(t *testing.T) {
	a := NewAddresses()
	count := 0
	for ; ; count++ {
		if _, err := a.Take(types.UID(strconv.Itoa(count))); errors.Is(err, errNoAddress) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if count != 65533 {
		t.Errorf("%d addresses", count)
	}
	a.free("7")
	if _, err := a.Take("late"); err != nil {
		t.Errorf("after one is given back: %v", err)
	}
}
