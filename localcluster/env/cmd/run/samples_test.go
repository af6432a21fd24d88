/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReadSamples_NoNamespace_IsDefaultUnlessTheKindHasNone(t *testing.T) {
	t.Parallel()
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"
	const names = ", names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, storage: true}]}\n"
	for scope, want := range map[string]string{"Namespaced": "default/it", "Cluster": "/it"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "it.yaml"), []byte("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: it}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := readSamples(dir, []*unstructured.Unstructured{object(t, crd+"spec: {group: example.com, scope: "+scope+names)})
		if err != nil {
			t.Fatal(err)
		}
		if got := found.own[0].GetNamespace() + "/" + found.own[0].GetName(); got != want {
			t.Errorf("scope %s: the sample is %s, want %s", scope, got, want)
		}
	}
}
