/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	fakekube "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "it", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
}

func byInitial(obj any) ([]string, error) {
	return []string{obj.(*corev1.ConfigMap).Name[:1]}, nil
}

// newInformer is an informer of a server that has the one ConfigMap.
func newInformer() cache.SharedIndexInformer {
	return informers.NewSharedInformerFactory(fakekube.NewClientset(configMap()), 0).Core().V1().ConfigMaps().Informer()
}

func TestSetup(t *testing.T) {
	added := make(chan any, 2)
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { added <- obj }}
	informer := newInformer()
	if err := Setup(informer, cache.Indexers{"initial": byInitial}, DropManagedFields, handler, handler); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go informer.RunWithContext(ctx)
	for range 2 {
		select {
		case obj := <-added:
			if cm := obj.(*corev1.ConfigMap); cm.ManagedFields != nil {
				t.Errorf("the handler is given %+v, want it without managed fields", cm)
			}
		case <-ctx.Done():
			t.Fatal("a handler was not told of the object")
		}
	}
	if found, err := informer.GetIndexer().ByIndex("initial", "i"); err != nil || len(found) != 1 {
		t.Errorf("by the index is found %v, %v, want the object", found, err)
	}
}

func TestSetupSaysWhatFailed(t *testing.T) {
	stopped := newInformer()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped.RunWithContext(ctx)
	taken := newInformer()
	if err := Setup(taken, cache.Indexers{"initial": byInitial}, nil); err != nil {
		t.Fatal(err)
	}
	for want, setup := range map[string]func() error{
		"adding indexers: ":         func() error { return Setup(taken, cache.Indexers{"initial": byInitial}, nil) },
		"setting the transform: ":   func() error { return Setup(stopped, nil, DropManagedFields) },
		"adding an event handler: ": func() error { return Setup(stopped, nil, nil, cache.ResourceEventHandlerFuncs{}) },
	} {
		if err := setup(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Setup() = %v, want an error that begins with %q", err, want)
		}
	}
}

func TestDropManagedFields(t *testing.T) {
	cm := configMap()
	if got, err := DropManagedFields(cm); err != nil || got != cm || cm.ManagedFields != nil {
		t.Errorf("of the object is left %+v, %v", got, err)
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/it"}
	if got, err := DropManagedFields(tombstone); err != nil || got != tombstone {
		t.Errorf("a tombstone becomes %v, %v", got, err)
	}
}
