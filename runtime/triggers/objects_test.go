/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestObjectOf_TypedObjectOrTombstoneOfIt(t *testing.T) {
	for name, tc := range map[string]struct {
		obj  any
		want bool
	}{
		"the object":         {configMap(), true},
		"a tombstone of it":  {cache.DeletedFinalStateUnknown{Key: "ns/it", Obj: configMap()}, true},
		"another type":       {&corev1.Secret{}, false},
		"an empty tombstone": {cache.DeletedFinalStateUnknown{Key: "ns/it"}, false},
		"nothing":            {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if cm, ok := ObjectOf[*corev1.ConfigMap](tc.obj); ok != tc.want || ok && cm.Name != "it" {
				t.Errorf("ObjectOf() = %v, %t, want ok %t", cm, ok, tc.want)
			}
		})
	}
}

func TestIndexed_ObjectsOfTheType(t *testing.T) {
	byName := IndexBy(func(cm *corev1.ConfigMap) []string { return []string{cm.Name} })
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"name": byName})
	if err := indexer.Add(configMap()); err != nil {
		t.Fatal(err)
	}
	if err := indexer.Add(&corev1.Secret{}); err != nil {
		t.Fatal(err)
	}
	if got := Indexed[*corev1.ConfigMap](indexer, "name", "it"); len(got) != 1 || got[0].Name != "it" {
		t.Errorf("Indexed() = %v, want the ConfigMap", got)
	}
	if got := Indexed[*corev1.Secret](indexer, "name", "it"); !slices.Equal(got, []*corev1.Secret{}) {
		t.Errorf("Indexed() = %v, want no Secret", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an index that was not added finds nothing, rather than panic")
		}
	}()
	Indexed[*corev1.ConfigMap](indexer, "other", "it")
}
