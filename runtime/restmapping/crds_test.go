/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// full is a CRD as an API server returns it: with a schema of 18 KiB, and the whole manifest again in an annotation.
func full(i int) *apiextensionsv1.CustomResourceDefinition {
	description := strings.Repeat("A field of some program's configuration. ", 18<<10/37)
	return radiusCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
		crd.Name = fmt.Sprintf("radii%d.example.com", i)
		crd.ResourceVersion, crd.UID = "1", "uid"
		crd.Spec.Names.Kind = fmt.Sprintf("Radius%d", i)
		crd.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": description}
		crd.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		crd.Spec.Versions[1].Schema = &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Description: description},
		}
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.NamesAccepted})
	})
}

func TestTrim_KeepsWhatAMapperReads(t *testing.T) {
	crd := full(1)
	want := radiusCRD(func(want *apiextensionsv1.CustomResourceDefinition) {
		want.Name, want.UID, want.ResourceVersion, want.Spec.Names.Kind = crd.Name, crd.UID, crd.ResourceVersion, crd.Spec.Names.Kind
	})
	got, err := TrimExcept("another")(crd)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("error %v, CRD (-want +got):\n%s", err, diff)
	}
	if got, err := TrimExcept("another", crd.Name)(crd); err != nil || got != crd {
		t.Errorf("a CRD to be kept complete becomes %v, %v", got, err)
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "it"}
	if got, err := Trim(tombstone); err != nil || got != tombstone {
		t.Errorf("a tombstone becomes %v, %v", got, err)
	}
}

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
