/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import "testing"

func identity(t *testing.T, name, uid string) string {
	t.Helper()
	id, err := Identity(name, uid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAPodKeepsItsIdentityAndTwoNeverShareOne(t *testing.T) {
	if first, second := identity(t, "controller-1", "u1"), identity(t, "controller-1", "u1"); first != second {
		t.Errorf("a container that was restarted is %q and was %q", second, first)
	}
	if first, second := identity(t, "controller-0", "u1"), identity(t, "controller-0", "u2"); first == second {
		t.Errorf("two Pods of the same name, one after the other, are both %q", first)
	}
}

func TestWithoutAPodEachProcessHasItsOwnIdentity(t *testing.T) {
	if first, second := identity(t, "name", ""), identity(t, "name", ""); first == second {
		t.Errorf("two processes are both %q", first)
	}
}
