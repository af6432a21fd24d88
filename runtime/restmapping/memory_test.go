//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func TestTrim_TwoThousandCRDs_AddAtMostEightMiB(t *testing.T) {
	const crds, limit = 2000, 8 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := range crds {
			_, _ = io.WriteString(w, `{"type": "ADDED", "object": `)
			_ = json.NewEncoder(w).Encode(full(i))
			_, _ = io.WriteString(w, `}`)
		}
		_, _ = io.WriteString(w, `{"type": "BOOKMARK", "object": {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata":
			{"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	client, err := clientset.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	informer := externalversions.NewSharedInformerFactory(client, 0).Apiextensions().V1().CustomResourceDefinitions().Informer()
	if err := informer.SetTransform(Trim); err != nil {
		t.Fatal(err)
	}
	if _, err := NewMapper(t.Context(), informer.GetIndexer(), nil, nil); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	go informer.Run(stop)
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the cache was not filled")
	}
	if got := len(informer.GetStore().ListKeys()); got != crds {
		t.Fatalf("there are %d CRDs in the cache, want %d", got, crds)
	}
	if added := heap() - before; added > limit {
		t.Errorf("the heap has grown by %d KiB, want at most %d KiB", added>>10, limit>>10)
	} else {
		t.Logf("the heap has grown by %d KiB", added>>10)
	}
	runtime.KeepAlive(informer)
}

// heap returns the number of bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
