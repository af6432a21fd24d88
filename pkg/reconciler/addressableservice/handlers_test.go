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

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// newHandlers are handlers over these objects, with the directory of the tests.
func newHandlers(t *testing.T, objs ...*v1.AddressableService) *enqueuing {
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
	e := &enqueuing{
		impl: impl, kinds: finder, handlers: &handlers{triggers: triggers.New("AddressableService"), config: store, objects: informer},
		addressableKinds: ducks.New(t.Context(), client, &duckv1.AddressableType{}, nil, cache.ResourceEventHandlerFuncs{}, func(schema.GroupVersionResource) {}),
	}
	e.triggers.Wire(impl, triggers.Guards{})
	return e
}

// enqueuing is handlers with the controller whose queue they fill.
type enqueuing struct {
	*handlers

	impl             *controller.Impl
	kinds            *restmapping.Finder
	addressableKinds *ducks.Factory
}

func (e *enqueuing) crds() cache.ResourceEventHandler {
	return e.handlers.crds(e.kinds, e.addressableKinds)
}

// enqueued are the names of the objects that were enqueued, each once, in order. It ends the queue.
func (e *enqueuing) enqueued() []string { return slices.Compact(drain(e.impl)) }

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

func TestHandlers_EachEvent_EnqueuesWhomItConcerns(t *testing.T) {
	everyone := []*v1.AddressableService{
		object("plain"), object("publishes", asAl), object("waits", asAl), object("publishes-else", publishedAs("else")),
		object("refers", toDuck), object("refers-v2", withRef("example.com/v2", "Duck", "", "d")),
		object("to-b", refTo("b")), object("to-one", withRef("v1", "Service", "", "one")),
		object("foreign", withClass("other"), asAl, toDuck), object("nobodys", withoutClass, asAl, toDuck),
	}
	elsewhere := func(s *corev1.Service) { s.Namespace = "elsewhere" }
	for name, tc := range map[string]struct {
		handler func(*enqueuing) cache.ResourceEventHandler
		changed kmeta.Accessor
		want    []string
	}{
		"an object of ours enqueues itself": {(*enqueuing).addressableServices, object("plain"), []string{"plain"}},
		"an object of another class":        {(*enqueuing).addressableServices, object("foreign", withClass("other")), []string{}},
		"an object without class":           {(*enqueuing).addressableServices, object("nobodys", withoutClass), []string{}},
		"a target, even of another class, enqueues the objects that refer to it": {
			(*enqueuing).addressableServices, object("b", withClass("other")), []string{"to-b"},
		},
		"a Service enqueues the objects whose target it is":                        {(*enqueuing).services, service(ns, "one"), []string{"to-one"}},
		"a Service without references to it":                                       {(*enqueuing).services, service(ns, "unknown"), []string{}},
		"a Service in the directory enqueues the objects that request its name":    {(*enqueuing).services, service(directory, "al"), []string{"publishes", "waits"}},
		"an alias enqueues its owner too":                                          {(*enqueuing).services, alias("al", "plain", host), []string{"plain", "publishes", "waits"}},
		"an alias outside of the directory enqueues its owner":                     {(*enqueuing).services, alias("al", "plain", host, elsewhere), []string{"plain"}},
		"the directory enqueues the objects that publish":                          {(*enqueuing).namespaces, namespace(directory), []string{"publishes", "publishes-else", "waits"}},
		"an Addressable enqueues whose target it is, whichever the version":        {(*enqueuing).addressables, duckOf(ns, "d"), []string{"refers", "refers-v2"}},
		"a cluster-scoped one, in every namespace":                                 {(*enqueuing).addressables, duckOf("", "d"), []string{"refers", "refers-v2"}},
		"one of another namespace":                                                 {(*enqueuing).addressables, duckOf("elsewhere", "d"), []string{}},
		"another namespace":                                                        {(*enqueuing).namespaces, namespace("other"), []string{}},
		"a CRD enqueues the objects that refer to its kind, whichever the version": {(*enqueuing).crds, duckCRD(), []string{"refers", "refers-v2"}},
		"a CRD without references to its kind": {(*enqueuing).crds, duckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Names.Kind = "Goose"
		}), []string{}},
	} {
		for occurrence, tell := range occurrences {
			t.Run(name+"/"+occurrence, func(t *testing.T) {
				e := newHandlers(t, everyone...)
				tell(tc.handler(e), tc.changed)
				got := e.enqueued()
				if !slices.Equal(got, tc.want) {
					t.Errorf("enqueued are %q, want %q", got, tc.want)
				}
			})
		}
	}
}

func duckOf(namespace, name string) *duckv1.AddressableType {
	return &duckv1.AddressableType{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Duck"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
}

func TestHandlersIgnoreWhatIsNoObject(t *testing.T) {
	e := newHandlers(t)
	all := []cache.ResourceEventHandler{e.addressableServices(), e.addressables(), e.services(), e.namespaces(), e.crds()}
	for _, junk := range []any{"text", nil, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: "text"}, cache.DeletedFinalStateUnknown{Key: "ns/a"}} {
		for _, handler := range all {
			handler.OnAdd(junk, true)
			handler.OnUpdate(junk, junk)
			handler.OnDelete(junk)
		}
	}
	if got := e.enqueued(); len(got) > 0 {
		t.Errorf("enqueued are %q", got)
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
			e := newHandlers(t)
			isRead := func(resource string) bool {
				_, err := e.addressableKinds.Lister(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource})
				return err == nil
			}
			if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true,
				func(context.Context) (bool, error) { return isRead("ducks") && isRead("geese"), nil }); err != nil {
				t.Fatal(err)
			}
			occurrences[tc.occurrence](e.crds(), tc.crd)
			if got := !isRead("ducks"); got != tc.ends {
				t.Errorf("another informer was needed afterwards: %t", got)
			}
			if !isRead("geese") {
				t.Error("the informer of another resource was ended")
			}
			e.enqueued()
		})
	}
}
