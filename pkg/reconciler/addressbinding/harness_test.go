/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/keymutex"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/pkg/duckinformer"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
	"github.com/mallard-dev/mallard/pkg/since"
)

var errInduced = errors.New("induced")

// caches are the informers' caches, with the indexes that the controller gives them.
type caches struct{ bindings, addressableServices, namespaces, crds, webhooks cache.Indexer }

func newCaches(objs ...runtime.Object) caches {
	indexer := func(indexers cache.Indexers) cache.Indexer {
		all := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		maps.Copy(all, indexers)
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, all)
	}
	c := caches{bindings: indexer(bindingIndexers()), addressableServices: indexer(nil), namespaces: indexer(nil), crds: indexer(nil), webhooks: indexer(nil)}
	for _, obj := range objs {
		var err error
		switch obj := obj.(type) {
		case *v1.AddressBinding:
			err = c.bindings.Add(obj)
		case *v1.AddressableService:
			err = c.addressableServices.Add(obj)
		case *corev1.Namespace:
			err = c.namespaces.Add(obj)
		case *apiextensionsv1.CustomResourceDefinition:
			err = c.crds.Add(obj)
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			err = c.webhooks.Add(obj)
		}
		if err != nil {
			panic(err)
		}
	}
	return c
}

// world is everything that a pass sees and writes to.
type world struct {
	caches

	samples   *fakesamples.Clientset
	dynamic   *fakedynamic.FakeDynamicClient
	discovery *fakediscovery.FakeDiscovery
	recorder  *record.FakeRecorder
	clock     *clocktesting.FakePassiveClock
	inner     *Reconciler

	// reconciler is the generated one around inner.
	reconciler controller.Reconciler
}

var subjectLists = map[schema.GroupVersionResource]string{
	{Group: "apps", Version: "v1", Resource: "deployments"}:  "DeploymentList",
	{Group: "apps", Version: "v1", Resource: "statefulsets"}: "StatefulSetList",
	{Group: "batch", Version: "v1", Resource: "jobs"}:        "JobList",
	{Group: "batch", Version: "v1", Resource: "cronjobs"}:    "CronJobList",
	{Group: "example.com", Version: "v1", Resource: "ducks"}: "DuckList",
	{Group: "example.com", Version: "v2", Resource: "ducks"}: "DuckList",
}

// builtIn is what discovery tells of the API groups of Kubernetes.
var builtIn = []*metav1.APIResourceList{{
	GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true}, {Name: "nodes", Kind: "Node"}},
}, {
	GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
		{Name: "deployments/status", Kind: "Deployment", Namespaced: true},
		{Name: "deployments", Kind: "Deployment", Namespaced: true},
		{Name: "statefulsets", Kind: "StatefulSet", Namespaced: true},
	},
}, {
	GroupVersion: "batch/v1", APIResources: []metav1.APIResource{
		{Name: "jobs", Kind: "Job", Namespaced: true}, {Name: "cronjobs", Kind: "CronJob", Namespaced: true},
	},
}}

// newWorld makes a world in which these objects exist: subjects only on the server, from where an informer fetches them, and
// all others in the caches.
func newWorld(t testing.TB, objs ...runtime.Object) *world {
	t.Helper()
	w := &world{
		caches:   newCaches(objs...),
		recorder: record.NewFakeRecorder(1000),
		clock:    clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0)),
	}
	var ours, subjects []runtime.Object
	for _, obj := range objs {
		switch obj.(type) {
		case *v1.AddressBinding:
			ours = append(ours, obj)
		case *unstructured.Unstructured:
			subjects = append(subjects, obj.DeepCopyObject())
		}
	}
	w.samples = fakesamples.NewSimpleClientset(ours...)
	w.samples.PrependReactor("update", "addressbindings/status", w.updateStatus)
	w.dynamic = fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), subjectLists, subjects...)
	w.discovery = &fakediscovery.FakeDiscovery{Fake: &fakekube.NewSimpleClientset().Fake}
	w.discovery.Resources = builtIn

	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	t.Cleanup(cancel)
	finder, err := kinds.NewFinder(ctx, w.crds, w.discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	w.inner = &Reconciler{
		dynamic:             w.dynamic,
		bindings:            listers.NewAddressBindingLister(w.bindings),
		addressableServices: listers.NewAddressableServiceLister(w.addressableServices),
		namespaces:          corev1listers.NewNamespaceLister(w.namespaces),
		webhooks:            admissionlisters.NewMutatingWebhookConfigurationLister(w.webhooks),
		kinds:               finder,
		failures:            problem.NewFailures(),
		tracker:             tracker.New(func(types.NamespacedName) {}, time.Hour),
		subjects:            make(map[binding.Shape]*duckinformer.Factory),
		written:             newWritten(),
		patching:            keymutex.NewHashed(locks),
	}
	w.inner.written.clock = w.clock
	w.inner.unused = since.NewWithClock[listing](remembered, w.clock)
	w.inner.troubles = problem.NewTroublesWithClock(w.clock)
	w.inner.refused = since.NewWithClock[state](remembered, w.clock)
	for _, shape := range binding.Shapes {
		w.inner.subjects[shape] = duckinformer.New(ctx, w.dynamic, shape.New(), nil, cache.ResourceEventHandlerFuncs{}, func(schema.GroupVersionResource) {})
	}
	generated := addressbindingreconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples, w.inner.bindings, w.recorder, w.inner,
		controller.Options{FinalizerName: samples.AddressBindingFinalizerName})
	leader, ok := generated.(reconciler.LeaderAware)
	if !ok {
		t.Fatalf("the generated reconciler is a %T, which is not leader-aware", generated)
	}
	if err := leader.Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
		t.Fatal(err)
	}
	w.reconciler = &informed{Reconciler: generated, world: w}
	return w
}

// informed waits before each reconciliation until discovery and the subjects' informers have an answer, which would enqueue the binding.
type informed struct {
	controller.Reconciler

	world *world
}

func (i *informed) Reconcile(ctx context.Context, key string) error {
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		for _, obj := range i.world.bindings.List() {
			ab, ok := obj.(*v1.AddressBinding)
			if !ok {
				continue
			}
			gvks := []schema.GroupVersionKind{subjectKind(ab)}
			for _, b := range ab.Status.Bound {
				gvks = append(gvks, schema.FromAPIVersionAndKind(b.APIVersion, b.Kind))
			}
			for _, gvk := range gvks {
				if _, err := i.world.inner.kinds.Find(gvk); errors.Is(err, kinds.ErrNotKnown) {
					return false, nil
				}
				if k, _, p := i.world.inner.findKind(gvk, true); p == nil {
					if _, err := i.world.inner.subjects[binding.ShapeOf(k.GroupKind, k.Labels)].Lister(k.Resource); errors.Is(err, duckinformer.ErrNotSynced) {
						return false, nil
					}
				}
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return i.Reconciler.Reconcile(ctx, key)
}

// updateStatus writes the status and nothing else, as the API server does; the
// fake would write the whole object.
func (w *world) updateStatus(action clientgotesting.Action) (bool, runtime.Object, error) {
	update, ok := action.(clientgotesting.UpdateAction)
	if !ok {
		return false, nil, nil
	}
	given, ok := update.GetObject().(*v1.AddressBinding)
	if !ok {
		return false, nil, nil
	}
	kept, err := w.samples.Tracker().Get(action.GetResource(), given.Namespace, given.Name)
	if err != nil {
		return true, nil, err
	}
	written, ok := kept.DeepCopyObject().(*v1.AddressBinding)
	if !ok {
		return false, nil, nil
	}
	written.Status = given.Status
	return true, written, w.samples.Tracker().Update(action.GetResource(), written, given.Namespace)
}

// patchedAnew gives what is patched another version and generation, as the API server does and the fake does not: without them, the
// event of our own patch looks as if nothing had changed.
func patchedAnew(tracker clientgotesting.ObjectTracker) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		_, obj, err := clientgotesting.ObjectReaction(tracker)(action)
		if err != nil {
			return true, nil, err
		}
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return true, nil, fmt.Errorf("patched is a %T", obj)
		}
		u = u.DeepCopy()
		u.SetGeneration(u.GetGeneration() + 1)
		u.SetResourceVersion(strconv.FormatInt(u.GetGeneration(), 10))
		return true, u, tracker.Update(action.GetResource(), u, u.GetNamespace())
	}
}
