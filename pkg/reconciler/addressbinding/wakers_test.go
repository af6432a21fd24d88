/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/telemetry"
)

// wokenBy is wakers with the controller whose queue they fill.
type wokenBy struct {
	*wakers

	impl      *controller.Impl
	discovery *fakediscovery.FakeDiscovery
	// stopped are the resources, of those that are asked about, whose informers were ended.
	stopped []string
}

func newWakers(t *testing.T, objs ...*v1.AddressBinding) *wokenBy {
	t.Helper()
	ctx := logtesting.TestContextWithLogger(t)
	indexers := bindingIndexers()
	indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &v1.AddressBinding{}, 0, indexers)
	for _, obj := range objs {
		if err := informer.GetIndexer().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	discovery := &fakediscovery.FakeDiscovery{Fake: &fakekube.NewSimpleClientset().Fake}
	discovery.Resources = builtIn
	finder, err := kinds.NewFinder(ctx, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		_, err := finder.Find(subjectKind(object("a")))
		return err == nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	discovery.ClearActions()
	// With so many workers no key waits outside the queue.
	impl := controller.NewContext(ctx, nil, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: logging.FromContext(ctx), Concurrency: 100})
	w := &wokenBy{impl: impl, discovery: discovery}
	w.wakers = &wakers{
		wakes: telemetry.Instrument(ctx, impl, "AddressBinding"), tracker: impl.Tracker, bindings: informer, kinds: finder,
		stop: func(match func(schema.GroupVersionResource) bool) {
			for _, resource := range []string{"ducks", "geese"} {
				if match(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource}) {
					w.stopped = append(w.stopped, resource)
				}
			}
		},
	}
	return w
}

// woken are the names of the bindings that were enqueued, each once, in order. It ends the queue.
func (w *wokenBy) woken() []string {
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

// follow makes a binding track, and takes it off the queue, onto which beginning to track puts it.
func (w *wokenBy) follow(t *testing.T, by string, ref tracker.Reference) {
	t.Helper()
	ref.Namespace = ns
	if err := w.tracker.TrackReference(ref, object(by)); err != nil {
		t.Fatal(err)
	}
	key, _ := w.impl.WorkQueue().Get()
	w.impl.WorkQueue().Done(key)
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

func TestWhoIsWoken(t *testing.T) {
	everyone := []*v1.AddressBinding{
		object("a", well), object("rival", well), object("of-peer", withVariable("PEER"), status(intercepted)),
		object("of-ducks", withSubject("example.com/v1", "Duck", "k")),
		object("was-of-ducks", status(listsOf("example.com/v2", "Duck", "K_ADDRESS", url), intercepted)),
		object("elsewhere", func(ab *v1.AddressBinding) { ab.Namespace = "elsewhere" }, status(intercepted)),
	}
	changed := func(mods ...mod) *v1.AddressBinding {
		return object("a", append([]mod{well, func(ab *v1.AddressBinding) { ab.ResourceVersion = "2" }}, mods...)...)
	}
	newer := func(d *duckv1.WithPod) { d.ResourceVersion = "2" }
	only := func(h func(*wakers) cache.ResourceEventHandler) func(*wakers) []cache.ResourceEventHandler {
		return func(w *wakers) []cache.ResourceEventHandler { return []cache.ResourceEventHandler{h(w)} }
	}
	subjects, namespaces, crds, configurations := only((*wakers).subjects), only((*wakers).namespaces), only((*wakers).crds), only((*wakers).webhooks)
	toDeployments := webhooks(schema.GroupResource{Group: "apps", Resource: "deployments"})

	for name, tc := range map[string]struct {
		handlers func(*wakers) []cache.ResourceEventHandler
		// old is what was before an update; nil for an object that is added, and again as a tombstone.
		old, now kmeta.Accessor
		want     []string
	}{
		"a binding that is new wakes itself and who wants the same variable": {(*wakers).addressBindings, nil, object("a"), []string{"a", "rival", "was-of-ducks"}},
		"its conditions are nobody else's business":                          {(*wakers).addressBindings, object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Conditions = nil }), []string{"a"}},
		"its value is":                                    {(*wakers).addressBindings, object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Value = other }), []string{"a", "rival", "was-of-ducks"}},
		"and what it may have written":                    {(*wakers).addressBindings, object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Bound = nil }), []string{"a", "rival", "was-of-ducks"}},
		"and that it goes":                                {(*wakers).addressBindings, object("a", well), changed(beingDeleted), []string{"a", "rival", "was-of-ducks"}},
		"another variable: those who want either":         {(*wakers).addressBindings, object("a", well), changed(withVariable("PEER")), []string{"a", "of-peer", "rival", "was-of-ducks"}},
		"an AddressableService wakes whose address it is": {only((*wakers).addressableServices), nil, hello(url), []string{"tracks-hello"}},

		"a subject wakes who names and who selects it": {subjects, nil, live(), []string{"names-d", "selects-x"}},
		"one that is changed":                          {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.Generation = 2 }), []string{"names-d", "selects-x"}},
		"one whose status changes wakes nobody":        {subjects, live(), live(newer), []string{}},
		"one without generations":                      {subjects, live(func(d *duckv1.WithPod) { d.Generation = 0 }), live(newer, func(d *duckv1.WithPod) { d.Generation = 0 }), []string{"names-d", "selects-x"}},
		"one that leaves a selector wakes who has it":  {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.Labels = nil; d.Name = "d" }), []string{"names-d", "selects-x"}},
		"one that is made anew":                        {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.UID = "new" }), []string{"names-d", "selects-x"}},
		"one that begins to go":                        {subjects, live(), live(newer, func(d *duckv1.WithPod) { d.DeletionTimestamp = &metav1.Time{} }), []string{"names-d", "selects-x"}},
		"one that nobody wants":                        {subjects, nil, live(func(d *duckv1.WithPod) { d.Name, d.Labels = "e", nil }), []string{}},

		"a namespace wakes all in it":                  {namespaces, nil, namespace(), []string{"a", "of-ducks", "of-peer", "rival", "was-of-ducks"}},
		"one that opts out":                            {namespaces, namespace(), namespace(optedOut), []string{"a", "of-ducks", "of-peer", "rival", "was-of-ducks"}},
		"one that no webhook is asked about":           {namespaces, namespace(), namespace(withoutWebhooks), []string{"a", "of-ducks", "of-peer", "rival", "was-of-ducks"}},
		"a namespace that begins to go":                {namespaces, namespace(), namespace(terminating), []string{"a", "of-ducks", "of-peer", "rival", "was-of-ducks"}},
		"one with another label wakes nobody":          {namespaces, namespace(), namespace(func(n *corev1.Namespace) { n.Labels["a"] = "b" }), []string{}},
		"a CRD wakes those of its kind, and that were": {crds, nil, duckCRD(), []string{"of-ducks", "was-of-ducks"}},
		"a CRD of another kind":                        {crds, nil, duckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.Kind = "Swan" }), []string{}},

		"rules that are there wake those who miss them":  {configurations, nil, toDeployments, []string{}},
		"rules that are missing wake those who had them": {configurations, toDeployments, webhooks(), []string{"a", "elsewhere", "of-peer", "rival", "was-of-ducks"}},
		"those of others": {configurations, nil, func() *admissionregistrationv1.MutatingWebhookConfiguration {
			c := webhooks()
			c.Name = "other"
			return c
		}(), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWakers(t, everyone...)
			w.follow(t, "tracks-hello", tracker.Reference{APIVersion: "samples.knative.dev/v1", Kind: "AddressableService", Name: "hello"})
			w.follow(t, "names-d", tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"})
			w.follow(t, "selects-x", tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Selector: metav1.SetAsLabelSelector(map[string]string{"app": "x"})})
			for _, handler := range tc.handlers(w.wakers) {
				if tc.old != nil {
					if tc.now.GetResourceVersion() == "" {
						tc.now.SetResourceVersion("2")
					}
					handler.OnUpdate(tc.old, tc.now)
				} else {
					handler.OnAdd(tc.now, false)
				}
			}
			if got := w.woken(); !slices.Equal(got, tc.want) {
				t.Errorf("woken are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDeletionThatWasMissedWakes(t *testing.T) {
	for name, tc := range map[string]struct {
		handlers func(*wakers) []cache.ResourceEventHandler
		deleted  kmeta.Accessor
		want     []string
	}{
		"binding":   {(*wakers).addressBindings, object("a", well), []string{"a", "rival"}},
		"subject":   {func(w *wakers) []cache.ResourceEventHandler { return []cache.ResourceEventHandler{w.subjects()} }, live(), []string{"names-d"}},
		"namespace": {func(w *wakers) []cache.ResourceEventHandler { return []cache.ResourceEventHandler{w.namespaces()} }, namespace(), []string{"rival"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWakers(t, object("rival", well))
			w.follow(t, "names-d", tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"})
			for _, handler := range tc.handlers(w.wakers) {
				handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "k", Obj: tc.deleted})
			}
			if got := w.woken(); !slices.Equal(got, tc.want) {
				t.Errorf("woken are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestKindThatIsServedNoMoreEndsItsInformer(t *testing.T) {
	w := newWakers(t)
	handler := w.crds()
	handler.OnAdd(duckCRD(), false)
	if len(w.stopped) > 0 {
		t.Errorf("the informers of %q were ended though they are served", w.stopped)
	}
	handler.OnDelete(duckCRD())
	if !slices.Equal(w.stopped, []string{"ducks"}) {
		t.Errorf("the informers of %q were ended, want that of ducks", w.stopped)
	}
	w.woken()
}

func TestDeletedBindingTracksNoMore(t *testing.T) {
	w := newWakers(t)
	w.follow(t, "a", tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"})
	for _, handler := range w.addressBindings() {
		handler.OnDelete(object("a"))
	}
	if observers := w.tracker.GetObservers(live()); len(observers) > 0 {
		t.Errorf("the subject has observers %v", observers)
	}
	w.woken()
}
