/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

// order notes what a reconciliation tracks and reads, as "track KIND KEY" and "read KIND KEY". The key of selected subjects has no name.
type order struct{ notes []string }

func (o *order) note(verb, kind, key string) {
	o.notes = append(o.notes, verb+" "+kind+" "+strings.TrimPrefix(key, "/"))
}

type notingTracker struct {
	tracker.Interface
	*order
}

func (n notingTracker) TrackReference(ref tracker.Reference, obj any) error {
	n.note("track", ref.Kind, ref.Namespace+"/"+ref.Name)
	return n.Interface.TrackReference(ref, obj)
}

// notingCache is a cache from which a lister gets objects.
type notingCache struct {
	cache.Indexer
	*order
	kind string
}

func (n notingCache) GetByKey(key string) (any, bool, error) {
	n.note("read", n.kind, key)
	return n.Indexer.GetByKey(key)
}

// notingFactory notes a read when it returns the informer of the subjects.
type notingFactory struct {
	duck.InformerFactory
	*order
	subject tracker.Reference
}

func (n notingFactory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	n.note("read", n.subject.Kind, ns+"/"+n.subject.Name)
	return n.InformerFactory.Get(ctx, gvr)
}

func TestReconcile_EachRead_IsTrackedBefore(t *testing.T) {
	for name, tc := range map[string]struct {
		ab   *v1.AddressBinding
		objs []runtime.Object
		want []string
	}{
		"named":      {object("a"), []runtime.Object{hello(url), deployment("d")}, []string{"Namespace ns", "AddressableService ns/hello", "Deployment ns/d"}},
		"selected":   {object("a", bySelector), []runtime.Object{hello(url)}, []string{"Namespace ns", "AddressableService ns/hello", "Deployment ns/"}},
		"no address": {object("a"), nil, []string{"Namespace ns", "AddressableService ns/hello", "Deployment ns/d"}},
		"deleted":    {object("a", well, beingDeleted), []runtime.Object{hello(url), deployment("d", bound(url))}, []string{"Namespace ns"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := newWorld(t, append(tc.objs, tc.ab, namespace(), everywhere)...), &order{}
			w.inner.tracker = notingTracker{w.inner.tracker, o}
			w.inner.namespaces = corev1listers.NewNamespaceLister(notingCache{w.namespaces, o, "Namespace"})
			w.inner.addressableServices = listers.NewAddressableServiceLister(notingCache{w.addressableServices, o, "AddressableService"})
			for shape, factory := range w.inner.subjects {
				w.inner.subjects[shape] = notingFactory{factory, o, tc.ab.Spec.Subject}
			}
			for range 2 { // the first one records the kind of the subject
				_ = w.reconcile(t, "a")
			}
			for i, note := range o.notes {
				if read, ok := strings.CutPrefix(note, "read "); ok && !slices.Contains(o.notes[:i], "track "+read) {
					t.Errorf("%s is read before it is tracked: %q", read, o.notes)
				}
			}
			for _, read := range tc.want {
				if !slices.Contains(o.notes, "read "+read) {
					t.Errorf("%s is not read: %q", read, o.notes)
				}
			}
		})
	}
}
