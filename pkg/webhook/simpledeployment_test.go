/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import "testing"

// A kind whose schema has every rule can be written while no webhook runs.
func TestAdmitted_KindWithoutRulesOfItsOwn_IsLeftOut(t *testing.T) {
	for groupKind, versions := range servedKinds() {
		for _, version := range versions {
			_, got := admitted()[groupKind.WithVersion(version)]
			if want := groupKind.Kind != "SimpleDeployment"; got != want {
				t.Errorf("%s of version %s is sent to the webhook: %t, want %t", groupKind, version, got, want)
			}
		}
	}
}
