/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"
)

func TestCheckNamesUndescribedFields(t *testing.T) {
	expectRefusal(t, "./testdata/undescribed/...",
		"Mute.v1 has no description",
		"Mute.v1.spec.plain has no description",
		"Mute.v1.spec.list[].nested has no description",
		"Mute.v1.spec.map{}.nested has no description",
	)
}

func TestCheckNamesCopiedDescriptions(t *testing.T) {
	problems := expectRefusal(t, "./testdata/copied/...",
		`Parrot.v1.spec.feathers and Parrot.v1.spec.left.claws have one and the same description, "Number of feathers."`,
	)
	if strings.Contains(problems, "How long it is.") {
		t.Error("check refuses a type that is used at two places:", problems)
	}
}

// expectRefusal returns what check says of the only kind among the packages, and expects it to hold the parts.
func expectRefusal(t *testing.T, pattern string, parts ...string) string {
	t.Helper()
	crds, err := generate(".", pattern)
	if err != nil {
		t.Fatal("generate:", err)
	}
	err = check(crds[0])
	if err == nil {
		t.Fatal("check accepts the CRD")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("check says\n%v\nwhich lacks\n%s", err, part)
		}
	}
	return err.Error()
}
