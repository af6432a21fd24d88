/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/tools/cache"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// newWakers are wakers over these objects, with the directory of the tests.
func newWakers(t *testing.T, objs ...*v1.AddressableService) (*wokenBy, *fakedynamic.FakeDynamicClient) {
	t.Helper()
	ctx := logtesting.TestContextWithLogger(t)
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &v1.AddressableService{}, 0, addressableServiceIndexers())
	for _, obj := range objs {
		if err := informer.GetIndexer().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	store := config.NewStore(logging.FromContext(ctx))
	cm := &corev1.ConfigMap{Data: map[string]string{"directory-namespace": directory}}
	cm.Name = config.AddressableName
	store.OnConfigChanged(cm)
	client := fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		{Group: "example.com", Version: "v1", Resource: "ducks"}: "DuckList",
		{Group: "example.com", Version: "v1", Resource: "geese"}: "GooseList",
	})
	finder, err := restmapping.NewFinder(ctx, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), nil, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	impl := controller.NewContext(ctx, nil, controller.ControllerOptions{
		// The backlog feeds the queue while it is shorter than the number of workers.
		WorkQueueName: t.Name(), Logger: logging.FromContext(ctx), Concurrency: 100,
	})
	return &wokenBy{impl: impl, wakers: &wakers{
		wakes:   telemetry.Instrument(ctx, impl, "AddressableService"),
		config:  store,
		objects: informer,
		Reconciler: &Reconciler{
			kinds:        finder,
			tracker:      impl.Tracker,
			addressables: ducks.New(t.Context(), client, &duckv1.AddressableType{}, nil, cache.ResourceEventHandlerFuncs{}, func(schema.GroupVersionResource) {}),
		},
	}}, client
}

// wokenBy is wakers with the controller whose queue they fill.
type wokenBy struct {
	*wakers

	impl *controller.Impl
}

// woken are the names of the objects that were enqueued, in order. It ends the queue.
func (w *wokenBy) woken() []string { return drain(w.impl) }

func drain(impl *controller.Impl) []string {
	impl.WorkQueue().ShutDown()
	names := []string{}
	for {
		key, ended := impl.WorkQueue().Get()
		if ended && key == nil {
			slices.Sort(names)
			return names
		}
		if name, ok := key.(types.NamespacedName); ok {
			names = append(names, name.Name)
		}
		impl.WorkQueue().Done(key)
	}
}

// occurrences are the ways in which an informer tells of an object.
var occurrences = map[string]func(cache.ResourceEventHandler, kmeta.Accessor){
	"added":   func(h cache.ResourceEventHandler, obj kmeta.Accessor) { h.OnAdd(obj, false) },
	"updated": func(h cache.ResourceEventHandler, obj kmeta.Accessor) { h.OnUpdate(obj, obj) },
	"deleted": func(h cache.ResourceEventHandler, obj kmeta.Accessor) { h.OnDelete(obj) },
	"deleted while the watch was down": func(h cache.ResourceEventHandler, obj kmeta.Accessor) {
		h.OnDelete(cache.DeletedFinalStateUnknown{Key: obj.GetNamespace() + "/" + obj.GetName(), Obj: obj})
	},
}

func TestWhoIsWoken(t *testing.T) {
	everyone := []*v1.AddressableService{
		object("plain"), object("publishes", asAl), object("waits", asAl), object("publishes-else", publishedAs("else")),
		object("refers", toDuck), object("refers-v2", withRef("example.com/v2", "Duck", "", "d")),
		object("foreign", withClass("other"), asAl, toDuck), object("nobodys", withoutClass, asAl, toDuck),
	}
	elsewhere := func(s *corev1.Service) { s.Namespace = "elsewhere" }
	for name, tc := range map[string]struct {
		handlers func(*wakers) []cache.ResourceEventHandler
		changed  kmeta.Accessor
		want     []string
	}{
		"an object of ours wakes itself": {(*wakers).addressableServices, object("plain"), []string{"plain"}},
		"an object of another class":     {(*wakers).addressableServices, object("foreign", withClass("other")), []string{}},
		"an object without class":        {(*wakers).addressableServices, object("nobodys", withoutClass), []string{}},
		"a target, even of another class, wakes who refers to it": {
			(*wakers).addressableServices, object("b", withClass("other")), []string{"tracks-b"},
		},
		"a Service wakes whose target it is":                        {(*wakers).services, service(ns, "target"), []string{"tracks-target"}},
		"a Service that nobody refers to":                           {(*wakers).services, service(ns, "unknown"), []string{}},
		"a Service in the directory wakes who asks for its name":    {(*wakers).services, service(directory, "al"), []string{"publishes", "waits"}},
		"an alias wakes its owner too":                              {(*wakers).services, alias("al", "plain", host), []string{"plain", "publishes", "waits"}},
		"an alias outside of the directory wakes its owner":         {(*wakers).services, alias("al", "plain", host, elsewhere), []string{"plain"}},
		"the directory wakes whoever publishes":                     {onlyNamespaces, namespace(directory), []string{"publishes", "publishes-else", "waits"}},
		"another namespace":                                         {onlyNamespaces, namespace("other"), []string{}},
		"a CRD wakes who refers to its kind, whichever the version": {onlyCRDs, duckCRD(), []string{"refers", "refers-v2"}},
		"a CRD that nobody refers to": {onlyCRDs, duckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Names.Kind = "Goose"
		}), []string{}},
	} {
		for occurrence, tell := range occurrences {
			t.Run(name+"/"+occurrence, func(t *testing.T) {
				w, _ := newWakers(t, everyone...)
				track(t, w, "samples.knative.dev/v1", "AddressableService", "b", "tracks-b")
				track(t, w, "v1", "Service", "target", "tracks-target")
				for _, handler := range tc.handlers(w.wakers) {
					tell(handler, tc.changed)
				}
				got := w.woken()
				if !slices.Equal(got, tc.want) {
					t.Errorf("woken are %q, want %q", got, tc.want)
				}
			})
		}
	}
}

func onlyNamespaces(w *wakers) []cache.ResourceEventHandler {
	return []cache.ResourceEventHandler{w.namespaces()}
}

func onlyCRDs(w *wakers) []cache.ResourceEventHandler { return []cache.ResourceEventHandler{w.crds()} }

// track makes an object track a target, and takes it off the queue, onto which
// beginning to track puts it.
func track(t *testing.T, w *wokenBy, apiVersion, kind, name, by string) {
	t.Helper()
	ref := tracker.Reference{APIVersion: apiVersion, Kind: kind, Namespace: ns, Name: name}
	if err := w.tracker.TrackReference(ref, object(by)); err != nil {
		t.Fatal(err)
	}
	key, _ := w.impl.WorkQueue().Get()
	w.impl.WorkQueue().Done(key)
}

func TestDeletedObjectTracksNoMore(t *testing.T) {
	for occurrence, tell := range occurrences {
		t.Run(occurrence, func(t *testing.T) {
			w, _ := newWakers(t)
			track(t, w, "v1", "Service", "target", "a")
			for _, handler := range w.addressableServices() {
				tell(handler, object("a", withClass("other")))
			}
			observers := w.tracker.GetObservers(&corev1.Service{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "target"},
			})
			if exists := occurrence == "added" || occurrence == "updated"; (len(observers) == 1) != exists {
				t.Errorf("%s, the target has observers %v", occurrence, observers)
			}
			w.woken()
		})
	}
}

func TestHandlersIgnoreWhatIsNoObject(t *testing.T) {
	w, _ := newWakers(t)
	all := slices.Concat(w.addressableServices(), w.services(), onlyNamespaces(w.wakers), onlyCRDs(w.wakers))
	for _, junk := range []any{"text", nil, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: "text"}, cache.DeletedFinalStateUnknown{Key: "ns/a"}} {
		for _, handler := range all {
			handler.OnAdd(junk, true)
			handler.OnUpdate(junk, junk)
			handler.OnDelete(junk)
		}
	}
	if got := w.woken(); len(got) > 0 {
		t.Errorf("woken are %q", got)
	}
}

func TestKindThatIsServedNoMoreEndsItsInformer(t *testing.T) {
	unserved := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = false }
	for name, tc := range map[string]struct {
		occurrence string
		crd        *apiextensionsv1.CustomResourceDefinition
		ends       bool
	}{
		"still served":       {"updated", duckCRD(), false},
		"added":              {"added", duckCRD(), false},
		"version unserved":   {"updated", duckCRD(unserved), true},
		"deleted":            {"deleted", duckCRD(), true},
		"deleted unnoticed":  {"deleted while the watch was down", duckCRD(), true},
		"another is deleted": {"deleted", duckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.Plural = "swans" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newWakers(t)
			isRead := func(resource string) bool {
				_, err := w.addressables.Lister(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource})
				return err == nil
			}
			if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true,
				func(context.Context) (bool, error) { return isRead("ducks") && isRead("geese"), nil }); err != nil {
				t.Fatal(err)
			}
			occurrences[tc.occurrence](w.crds(), tc.crd)
			if got := !isRead("ducks"); got != tc.ends {
				t.Errorf("another informer was needed afterwards: %t", got)
			}
			if !isRead("geese") {
				t.Error("the informer of another resource was ended")
			}
			w.woken()
		})
	}
}
