/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestLister_ObjectsOfTheType(t *testing.T) {
	secrets := newSource[*corev1.ConfigMap](nil, []Qualifier{Index("name", func(cm *corev1.ConfigMap) []string { return []string{cm.Name} })}, nil)
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, secrets.indexers)
	for _, object := range []any{thing("a", "1"), thing("b", "2"), &corev1.Secret{}} {
		if err := indexer.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	lister := Lister[*corev1.ConfigMap]{func() cache.Indexer { return indexer }}
	if got := lister.ByIndex("name", "a"); len(got) != 1 || got[0].Name != "a" {
		t.Errorf("by the index are found %v, want the ConfigMap", got)
	}
	if got := len(lister.List()); got != 2 {
		t.Errorf("%d objects are found, want 2", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an index that was not added finds nothing, rather than panic")
		}
	}()
	lister.ByIndex("other", "a")
}
