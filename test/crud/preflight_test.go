/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"fmt"
	"testing"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestPreflight_ManyObjects_AsksOnceForEachPermission(t *testing.T) {
	s := newScene(t)
	var operations []crud.Operation
	for i := range 20 {
		operations = append(operations, crud.CreateOrUpdate(s.configMap(fmt.Sprint("a", i), nil)))
	}
	reviews := s.proxy.Count(harness.Matching("create", "selfsubjectaccessreviews"))
	if err := s.client.Preflight(t.Context(), operations); err != nil {
		t.Error(err)
	}
	if n := reviews(); n != 3 { // get, create and patch
		t.Errorf("asked %d times, want 3", n)
	}
}

func TestPreflight_PermissionForOneObject_Suffices(t *testing.T) {
	s := newScene(t)
	limited := s.env.As(t, s.account(`[{apiGroups: [""], resources: [configmaps], resourceNames: [a], verbs: [get, patch]}]`))
	client, err := crud.New(limited.Config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		s.run(crud.Create(s.configMap(name, nil)), crud.Created)
	}
	patch := func(name string) []crud.Operation {
		return []crud.Operation{crud.JQPatch(s.ref("ConfigMap", name), `.data.k = "1"`)}
	}
	if err := client.Preflight(t.Context(), patch("a")); err != nil {
		t.Error(err)
	}
	if err := client.Preflight(t.Context(), patch("b")); crud.ClassOf(err) != crud.Forbidden {
		t.Errorf("another object: %v", err)
	}
}
