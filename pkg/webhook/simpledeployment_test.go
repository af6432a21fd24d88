/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// A kind whose schema has every rule can be written while no webhook runs.
func TestAdmitted_KindWithoutRulesOfItsOwn_IsLeftOut(t *testing.T) {
	kind := schema.GroupKind{Group: samples.GroupName, Kind: "SimpleDeployment"}
	versions := servedKinds()[kind]
	if len(versions) == 0 {
		t.Fatalf("%s is not served", kind)
	}
	for _, version := range versions {
		if _, ok := admitted()[kind.WithVersion(version)]; ok {
			t.Errorf("%s of version %s is sent to the webhook", kind, version)
		}
	}
}
