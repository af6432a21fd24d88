/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
)

// registry is the folder of all keys in etcd.
const registry = "/registry/"

// Stored is an object of a custom resource as etcd holds it, byte for byte.
func (e *Env) Stored(t testing.TB, ref Ref) string {
	t.Helper()
	parts := []string{ref.Resource.Group, ref.Resource.Resource, ref.Namespace, ref.Name}
	if ref.Namespace == "" {
		parts = []string{ref.Resource.Group, ref.Resource.Resource, ref.Name}
	}
	key := registry + strings.Join(parts, "/")
	for _, entry := range e.stored(t, key) {
		if entry.Key == key {
			return string(entry.Value)
		}
	}
	t.Fatalf("etcd has nothing at %s", key)
	return ""
}

// StoredOf returns all objects of a custom resource as etcd holds them, by namespace/name.
func (e *Env) StoredOf(t testing.TB, resource schema.GroupResource) map[string]string {
	t.Helper()
	prefix := registry + resource.Group + "/" + resource.Resource + "/"
	objects := make(map[string]string)
	for _, entry := range e.stored(t, prefix) {
		objects[strings.TrimPrefix(entry.Key, prefix)] = string(entry.Value)
	}
	return objects
}

// StoredAt counts the objects of a custom resource by the version that etcd holds them at.
func (e *Env) StoredAt(t testing.TB, resource schema.GroupResource) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, object := range e.StoredOf(t, resource) {
		counts[storedVersion(t, object)]++
	}
	return counts
}

func storedVersion(t testing.TB, object string) string {
	t.Helper()
	var kind metav1.TypeMeta
	if err := json.Unmarshal([]byte(object), &kind); err != nil {
		t.Fatalf("reading what etcd holds: %v: %s", err, object)
	}
	return kind.GroupVersionKind().Version
}

func (e *Env) stored(t testing.TB, prefix string) []environment.Stored {
	t.Helper()
	entries, err := e.environment.Stored(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
