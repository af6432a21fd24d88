/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

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

	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

// order notes what a reconciliation tracks and reads, as "track KIND KEY" and "read KIND KEY".
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

// notingFactory notes a read when it returns the informer of a kind.
type notingFactory struct {
	duck.InformerFactory
	*order
	kind, key string
}

func (n notingFactory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	n.note("read", n.kind, n.key)
	return n.InformerFactory.Get(ctx, gvr)
}

func TestReconcile_EachRead_IsTrackedBefore(t *testing.T) {
	for name, tc := range map[string]struct {
		objs []runtime.Object
		want []string
	}{
		"Service":            {[]runtime.Object{object("a"), theTarget}, []string{"Namespace ns", "Service ns/target"}},
		"missing":            {[]runtime.Object{object("a")}, []string{"Namespace ns", "Service ns/target"}},
		"chain":              {[]runtime.Object{object("a", refTo("b")), object("b", refTo("c"))}, []string{"Namespace ns", "AddressableService ns/b", "AddressableService ns/c"}},
		"custom kind":        {[]runtime.Object{object("a", toDuck), aDuck(ns, "d", addressStatus("http://d.example.com"))}, []string{"Namespace ns", "Duck ns/d"}},
		"alias":              {[]runtime.Object{object("a", asAl), theTarget, dir}, []string{"Namespace ns", "Namespace dir", "Service ns/target", "Service dir/al"}},
		"published":          {[]runtime.Object{object("a", asAl, isPublished), theTarget, dir, alias("al", "a", host, stored)}, []string{"Service dir/al"}},
		"no directory":       {[]runtime.Object{object("a", asAl), theTarget}, []string{"Namespace dir", "Service dir/al"}},
		"cannot be resolved": {[]runtime.Object{object("a", asAl, toDuck)}, []string{"Namespace ns", "Duck ns/d"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := newWorld(t, testConfig(), tc.objs...), &order{}
			w.inner.tracker = notingTracker{w.inner.tracker, o}
			w.inner.services = corev1listers.NewServiceLister(notingCache{w.services, o, "Service"})
			w.inner.namespaces = corev1listers.NewNamespaceLister(notingCache{w.namespaces, o, "Namespace"})
			w.inner.addressableServices = listers.NewAddressableServiceLister(notingCache{w.objects, o, "AddressableService"})
			w.inner.addressables = notingFactory{w.inner.addressables, o, "Duck", ns + "/d"}
			if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
				t.Fatal(err)
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
