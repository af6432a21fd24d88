/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/triggers"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// enqueuing is handlers with the controller whose queue they fill.
type enqueuing struct {
	*handlers

	impl  *controller.Impl
	kinds *restmapping.Finder
	// stopped are the resources, of ducks and geese, whose informers were stopped.
	stopped []string
}

func (w *enqueuing) Stop(match func(schema.GroupVersionResource) bool) {
	for _, resource := range []string{"ducks", "geese"} {
		if match(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource}) {
			w.stopped = append(w.stopped, resource)
		}
	}
}

func (w *enqueuing) crds() cache.ResourceEventHandler { return w.handlers.crds(w.kinds, w) }

func newHandlers(t *testing.T, objs ...*v1.AddressBinding) *enqueuing {
	t.Helper()
	ctx := logtesting.TestContextWithLogger(t)
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &v1.AddressBinding{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, obj := range objs {
		if err := informer.GetIndexer().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	discovery := &fakediscovery.FakeDiscovery{Fake: &fakekube.NewSimpleClientset().Fake}
	discovery.Resources = builtIn
	finder, err := restmapping.NewFinder(ctx, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	impl := controller.NewContext(ctx, nil, controller.ControllerOptions{WorkQueueName: t.Name(), Concurrency: 100, Logger: logging.FromContext(ctx)})
	w := &enqueuing{impl: impl, kinds: finder}
	w.handlers = &handlers{triggers: triggers.New("AddressBinding"), bindings: informer, choices: lru.New(maxChoices)}
	w.triggers.Wire(impl, triggers.Guards{})
	return w
}

// enqueued are the names of the bindings that were enqueued, each once, in order. It ends the queue.
func (w *enqueuing) enqueued() []string {
	w.impl.WorkQueue().ShutDown()
	names := []string{}
	for {
		key, ended := w.impl.WorkQueue().Get()
		if ended && key == nil {
			slices.Sort(names)
			return slices.Compact(names)
		}
		if name, ok := key.(types.NamespacedName); ok {
			names = append(names, name.Name)
		}
		w.impl.WorkQueue().Done(key)
	}
}

func live(mods ...func(*duckv1.WithPod)) *duckv1.WithPod {
	d := &duckv1.WithPod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "d", UID: "uid-d", Generation: 1, ResourceVersion: "1", Labels: map[string]string{"app": "x"}},
	}
	for _, m := range mods {
		m(d)
	}
	return d
}

// An event of a subject asks every binding of its namespace, so that a tenant with many bindings would delay the events of others.
func TestHandlers_SubjectEvent_ParsesNoSelectorAgain(t *testing.T) {
	selecting, subject := object("a", bySelector), live()
	w := newHandlers(t, selecting)
	if !w.concerns(selecting, subject) {
		t.Fatal("the binding does not choose the subject")
	}
	if allocations := testing.AllocsPerRun(100, func() { w.concerns(selecting, subject) }); allocations > 0 {
		t.Errorf("got %v allocations to match a subject again, want none", allocations)
	}
	changed := selecting.DeepCopy()
	changed.Spec.Subject.Selector.MatchLabels["app"] = "y"
	if w.concerns(changed, subject) {
		t.Error("the binding is found by the selector that it had before")
	}
}

func TestHandlers_EnqueueAffectedBindings(t *testing.T) {
	elsewhere := func(ab *v1.AddressBinding) { ab.Spec.Subject.Name, ab.Spec.Address.Name = "other", "other" }
	everyone := []*v1.AddressBinding{
		object("a", well, elsewhere), object("rival", well, elsewhere), object("of-peer", elsewhere, withVariable("PEER"), status(records(deploymentKind), intercepted)),
		object("of-ducks", elsewhere, withSubject("example.com/v1", "Duck", "k")),
		object("was-of-ducks", elsewhere, status(records(duckKind, deploymentKind), intercepted)),
		object("elsewhere", func(ab *v1.AddressBinding) { ab.Namespace = "elsewhere" }, status(records(deploymentKind), intercepted)),
		object("names-d", withVariable("N"), func(ab *v1.AddressBinding) { ab.Spec.Address.Name = "other" }),
		object("selects-x", bySelector, withVariable("S"), func(ab *v1.AddressBinding) { ab.Spec.Address.Name = "other" }),
		object("of-hello", withSubject("apps/v1", "Deployment", "other"), withVariable("T")),
	}
	inNamespace := []string{"a", "names-d", "of-ducks", "of-hello", "of-peer", "rival", "selects-x", "was-of-ducks"}
	changed := func(mods ...mod) *v1.AddressBinding {
		return object("a", append([]mod{well, func(ab *v1.AddressBinding) { ab.ResourceVersion = "2" }}, mods...)...)
	}
	newer := func(d *duckv1.WithPod) { d.ResourceVersion = "2" }
	bindings, subjects, namespaces, crds, configurations := (*enqueuing).addressBindings, (*enqueuing).subjects, (*enqueuing).namespaces, (*enqueuing).crds, (*enqueuing).webhooks
	toDeployments := webhooks(schema.GroupResource{Group: "apps", Resource: "deployments"})

	for name, tc := range map[string]struct {
		handler func(*enqueuing) cache.ResourceEventHandler
		// old is what was before an update; nil for an object that is added, and again as a tombstone.
		old, now kmeta.Accessor
		want     []string
	}{
		"a new binding enqueues itself and its rivals":               {bindings, nil, object("a"), []string{"a", "rival", "was-of-ducks"}},
		"a change of its conditions":                                 {bindings, object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Conditions = nil }), []string{"a"}},
		"a change of its value":                                      {bindings, object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Value = other }), []string{"a", "rival", "was-of-ducks"}},
		"a change of the kinds that it may have written to":          {bindings, object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Kinds = nil }), []string{"a", "rival", "was-of-ducks"}},
		"the beginning of its deletion":                              {bindings, object("a", well), changed(beingDeleted), []string{"a", "rival", "was-of-ducks"}},
		"another variable: those who want either":                    {bindings, object("a", well), changed(withVariable("PEER")), []string{"a", "of-peer", "rival", "was-of-ducks"}},
		"an AddressableService enqueues the bindings to its address": {(*enqueuing).addressableServices, nil, hello(url), []string{"of-hello"}},

		"a subject enqueues the bindings that name or select it": {subjects, nil, live(), []string{"names-d", "selects-x"}},
		"one that is changed":                                                 {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.Generation = 2 }), []string{"names-d", "selects-x"}},
		"one whose status changes enqueues nothing":                           {subjects, live(), live(newer), []string{}},
		"one without generations":                                             {subjects, live(func(d *duckv1.WithPod) { d.Generation = 0 }), live(newer, func(d *duckv1.WithPod) { d.Generation = 0 }), []string{"names-d", "selects-x"}},
		"one that leaves a selector enqueues the bindings with that selector": {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.Labels = nil; d.Name = "d" }), []string{"names-d", "selects-x"}},
		"one that is made anew":                                               {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.UID = "new" }), []string{"names-d", "selects-x"}},
		"one that begins to go":                                               {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.DeletionTimestamp = &metav1.Time{} }), []string{"names-d", "selects-x"}},
		"one whose mark is dropped":                                           {subjects, live(func(d *duckv1.WithPod) { d.Annotations = map[string]string{samples.BoundVariablesAnnotationKey: "{}"} }), live(newer), []string{"names-d", "selects-x"}},
		"one with another annotation":                                         {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.Annotations = map[string]string{"a": "b"} }), []string{}},
		"one that gets a controller":                                          {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.OwnerReferences = []metav1.OwnerReference{{Controller: new(true)}} }), []string{"names-d", "selects-x"}},
		"one of a former kind":                                                {subjects, nil, live(func(d *duckv1.WithPod) { d.APIVersion, d.Kind = "example.com/v2", "Duck" }), []string{"was-of-ducks"}},
		"one that no binding selects":                                         {subjects, nil, live(func(d *duckv1.WithPod) { d.Name, d.Labels = "e", nil }), []string{}},

		"a namespace enqueues all in it":                        {namespaces, nil, namespace(), inNamespace},
		"one that opts out":                                     {namespaces, namespace(), namespace(optedOut), inNamespace},
		"one that no webhook is asked about":                    {namespaces, namespace(), namespace(withoutWebhooks), inNamespace},
		"one with another label enqueues nothing":               {namespaces, namespace(), namespace(func(n *corev1.Namespace) { n.Labels["a"] = "b" }), []string{}},
		"a CRD enqueues those of its kind, and those that were": {crds, nil, reconcilertest.DuckCRD(), []string{"of-ducks", "was-of-ducks"}},
		"a CRD of another group":                                {crds, nil, reconcilertest.DuckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Group = "other.com" }), []string{}},

		"rules that exist enqueue those that lacked them":    {configurations, nil, toDeployments, []string{}},
		"rules that are missing enqueue those that had them": {configurations, toDeployments, webhooks(), []string{"a", "elsewhere", "of-peer", "rival", "was-of-ducks"}},
		"those of others": {configurations, nil, func() *admissionregistrationv1.MutatingWebhookConfiguration {
			c := webhooks()
			c.Name = "other"
			return c
		}(), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHandlers(t, everyone...)
			handler := tc.handler(w)
			if tc.old != nil {
				if tc.now.GetResourceVersion() == "" {
					tc.now.SetResourceVersion("2")
				}
				handler.OnUpdate(tc.old, tc.now)
			} else {
				handler.OnAdd(tc.now, false)
			}
			if got := w.enqueued(); !slices.Equal(got, tc.want) {
				t.Errorf("enqueued are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHandlers_MissedDeletion_Enqueues(t *testing.T) {
	for name, tc := range map[string]struct {
		handler func(*enqueuing) cache.ResourceEventHandler
		deleted kmeta.Accessor
		want    []string
	}{
		"binding":   {(*enqueuing).addressBindings, object("a", well), []string{"a", "rival"}},
		"subject":   {(*enqueuing).subjects, live(), []string{"names-d"}},
		"namespace": {(*enqueuing).namespaces, namespace(), []string{"names-d", "rival"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHandlers(t, object("rival", well, withSubject("apps/v1", "Deployment", "e")), object("names-d", withVariable("N")))
			tc.handler(w).OnDelete(cache.DeletedFinalStateUnknown{Key: "k", Obj: tc.deleted})
			if got := w.enqueued(); !slices.Equal(got, tc.want) {
				t.Errorf("enqueued are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHandlers_CRDDeleted_InformerEnds(t *testing.T) {
	w := newHandlers(t)
	handler := w.crds()
	handler.OnAdd(reconcilertest.DuckCRD(), false)
	if len(w.stopped) > 0 {
		t.Errorf("the informers of %q were ended though they are served", w.stopped)
	}
	handler.OnDelete(reconcilertest.DuckCRD())
	if !slices.Equal(w.stopped, []string{"ducks"}) {
		t.Errorf("the informers of %q were ended, want that of ducks", w.stopped)
	}
	w.enqueued()
}

func TestHandlers_ServedOrReadable_EnqueueBindingsOfTheGroup(t *testing.T) {
	duck := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ducks"}
	for name, call := range map[string]func(*handlers){
		"served":   func(h *handlers) { h.served(sets.New(duck.GroupVersion())) },
		"readable": func(h *handlers) { h.readable(duck) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newHandlers(t, object("a", well), object("of-ducks", withSubject("example.com/v1", "Duck", "k")), object("was-of-ducks", status(records(duckKind))))
			call(w.handlers)
			if got := w.enqueued(); !slices.Equal(got, []string{"of-ducks", "was-of-ducks"}) {
				t.Errorf("enqueued are %q", got)
			}
		})
	}
}

func TestHandlers_NoObject_IsIgnored(t *testing.T) {
	w := newHandlers(t)
	all := []cache.ResourceEventHandler{w.addressBindings(), w.addressableServices(), w.subjects(), w.namespaces(), w.crds(), w.webhooks()}
	for _, junk := range []any{"text", nil, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: "text"}, cache.DeletedFinalStateUnknown{Key: "ns/a"}} {
		for _, handler := range all {
			handler.OnAdd(junk, true)
			handler.OnUpdate(junk, junk)
			handler.OnDelete(junk)
		}
	}
	if got := w.enqueued(); len(got) > 0 {
		t.Errorf("enqueued are %q", got)
	}
}
