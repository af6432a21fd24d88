/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// testConfig is the configuration of the tests, whose directory is namespace dir.
func testConfig(changes ...func(*config.Addressable)) *config.Addressable {
	cfg := config.DefaultAddressable()
	cfg.DirectoryNamespace = directory
	for _, change := range changes {
		change(cfg)
	}
	return cfg
}

// fixedConfig is a ConfigStore that never changes.
type fixedConfig struct{ cfg *config.Addressable }

func (f fixedConfig) ToContext(ctx context.Context) context.Context {
	return config.ToContext(ctx, f.cfg)
}

// caches are the informers' caches, with the indexes that the controller gives them.
type caches struct{ objects, services, namespaces, crds cache.Indexer }

func newCaches(objs ...runtime.Object) caches {
	c := caches{
		objects:    addressableServices.NewIndexer(),
		services:   services.NewIndexer(),
		namespaces: reconcilertest.Indexer(nil),
		crds:       reconcilertest.Indexer(nil),
	}
	for _, obj := range objs {
		var err error
		switch obj := obj.(type) {
		case *v1.AddressableService:
			err = c.objects.Add(obj)
		case *corev1.Service:
			err = c.services.Add(obj)
		case *corev1.Namespace:
			err = c.namespaces.Add(obj)
		case *apiextensionsv1.CustomResourceDefinition:
			err = c.crds.Add(obj)
		}
		if err != nil {
			panic(err)
		}
	}
	return c
}

// world is everything that a reconciliation sees and writes to.
type world struct {
	caches

	samples   *fakesamples.Clientset
	kube      *fakekube.Clientset
	dynamic   *fakedynamic.FakeDynamicClient
	discovery *fakediscovery.FakeDiscovery
	recorder  *record.FakeRecorder
	inner     *Reconciler

	// reconciler is the generated one around inner.
	reconciler controller.Reconciler
}

// newWorld makes a world in which these objects exist: AddressableServices,
// Services, Namespaces and CRDs in the caches and on the server, other objects only
// on the server, from where an informer fetches them.
func newWorld(t testing.TB, cfg *config.Addressable, objs ...runtime.Object) *world {
	t.Helper()
	w := &world{
		caches:   newCaches(objs...),
		recorder: record.NewFakeRecorder(1000),
	}
	var ours, core, others []runtime.Object
	for _, obj := range objs {
		switch obj.(type) {
		case *v1.AddressableService:
			ours = append(ours, obj)
		case *corev1.Service, *corev1.Namespace:
			core = append(core, obj)
		case *unstructured.Unstructured:
			others = append(others, obj)
		}
	}
	w.samples = fakesamples.NewSimpleClientset(ours...)
	w.samples.PrependReactor("update", "addressableservices/status",
		reconcilertest.StatusOnly(w.samples.Tracker(), func(to, from *v1.AddressableService) { to.Status = from.Status }))
	w.kube = fakekube.NewSimpleClientset(core...)
	w.dynamic = fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		{Group: "example.com", Version: "v1", Resource: "ducks"}:            "DuckList",
		{Group: "aggregated.example.com", Version: "v1", Resource: "ducks"}: "DuckList",
	}, others...)
	// Another clientset, because asking it is no action of interest.
	w.discovery = &fakediscovery.FakeDiscovery{Fake: &fakekube.NewSimpleClientset().Fake}
	w.discovery.Resources = []*metav1.APIResourceList{{GroupVersion: "v1"}, {
		GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment"}},
	}, {
		GroupVersion: "aggregated.example.com/v1", APIResources: []metav1.APIResource{
			{Name: "ducks/status", Kind: "Duck", Namespaced: true}, {Name: "ducks", Kind: "Duck", Namespaced: true},
		},
	}}

	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	t.Cleanup(cancel)
	mapper, err := restmapping.NewMapper(ctx, w.crds, w.discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	w.inner = &Reconciler{
		kube:                w.kube,
		samples:             w.samples,
		addressableServices: listers.NewAddressableServiceLister(w.objects),
		services:            corev1listers.NewServiceLister(w.services),
		namespaces:          corev1listers.NewNamespaceLister(w.namespaces),
		aliases:             observe.NewLister[*corev1.Service](w.services),
		mapper:              mapper,
		addressables:        ducks.New(ctx, w.dynamic, &duckv1.AddressableType{}, nil, func(sets.Set[schema.GroupVersion]) {}),
		failures:            failures.New(),
	}
	generated := addressableservicereconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples,
		w.inner.addressableServices, w.recorder, w.inner, samples.ClassMallard,
		controller.Options{ConfigStore: fixedConfig{cfg}, FinalizerName: samples.FinalizerName})
	reconcilertest.Promote(t, generated, nil)
	w.reconciler = &informed{Reconciler: generated, world: w}
	return w
}

// informed waits before each reconciliation until discovery and the target's informer have an answer, which would enqueue the object.
type informed struct {
	controller.Reconciler

	world *world
}

func (i *informed) Reconcile(ctx context.Context, key string) error {
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		for _, obj := range i.world.objects.List() {
			as, ok := obj.(*v1.AddressableService)
			if !ok || as.Spec.Ref.GroupVersionKind() == serviceKind {
				continue
			}
			served, err := i.world.inner.mapper.Map(as.Spec.Ref.GroupVersionKind())
			if err == nil && !served.BuiltIn {
				_, err = i.world.inner.addressables.Lister(served.Resource)
			}
			if errors.Is(err, restmapping.ErrNotKnown) || errors.Is(err, ducks.ErrNotSynced) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return i.Reconciler.Reconcile(ctx, key)
}
