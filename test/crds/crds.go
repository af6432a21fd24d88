/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package crds lists the operator's kinds for suites that test something about each of them: its CRDs, as they are in config/. A kind that
// is added or removed there is added to or removed from these suites.
package crds

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// All reads the CRDs, in the order of their names. It is for packages two folders below the root.
func All(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	paths, err := filepath.Glob("../../config/300-*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("finding the CRDs: %v (%d files)", err, len(paths))
	}
	all := make([]*apiextensionsv1.CustomResourceDefinition, len(paths))
	for i, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, all[i]); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return all
}
