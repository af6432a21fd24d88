/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
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
type caches struct{ objects, services, namespaces cache.Indexer }

func newCaches(objs ...runtime.Object) caches {
	c := caches{
		objects:    reconcilertest.Indexer(nil),
		services:   reconcilertest.Indexer(cache.Indexers{aliasesByOwner: indexByOwner}),
		namespaces: reconcilertest.Indexer(nil),
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

	samples  *fakesamples.Clientset
	kube     *fakekube.Clientset
	dynamic  *fakedynamic.FakeDynamicClient
	recorder *record.FakeRecorder
	inner    *Reconciler
	// directories are those that the process knows.
	directories []string

	// reconciler is the generated one around inner.
	reconciler controller.Reconciler
}

// newWorld makes a world in which these objects exist: AddressableServices,
// Services and Namespaces in the caches and on the server, other objects only
// on the server, from where an informer fetches them. The server serves kind Duck.
func newWorld(t testing.TB, cfg *config.Addressable, objs ...runtime.Object) *world {
	t.Helper()
	w := &world{
		caches:      newCaches(objs...),
		recorder:    record.NewFakeRecorder(1000),
		directories: []string{cfg.DirectoryNamespace},
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
	w.dynamic = fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{ducks: "DuckList"}, others...)

	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	t.Cleanup(cancel)
	ctx, w.kube = fakekubeclient.With(ctx, core...)
	w.inner = &Reconciler{
		kube:                kubeclient.Get(ctx),
		client:              w.samples.SamplesV1(),
		addressableServices: listers.NewAddressableServiceLister(w.objects),
		services:            corev1listers.NewServiceLister(w.services),
		aliases:             w.services,
		namespaces:          corev1listers.NewNamespaceLister(w.namespaces),
		addressables:        lists{w.dynamic},
		directories:         func() []string { return w.directories },
		tracker:             tracker.New(func(types.NamespacedName) {}, time.Hour),
	}
	generated := addressableservicereconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples,
		w.inner.addressableServices, w.recorder, w.inner, samples.ClassMallard,
		controller.Options{ConfigStore: fixedConfig{cfg}, FinalizerName: samples.FinalizerName})
	reconcilertest.Promote(t, generated, nil)
	w.reconciler = generated
	return w
}

var ducks = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ducks"}

// lists is a factory of duck informers whose caches have the answer of a list, or that return its error. As those of a hardened process, they keep
// what does not have the form of the duck type as it is.
type lists struct {
	client *fakedynamic.FakeDynamicClient
}

// Get implements duck.InformerFactory.
func (l lists) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	if gvr != ducks {
		return nil, nil, apierrors.NewNotFound(gvr.GroupResource(), "")
	}
	list, err := l.client.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	indexer := reconcilertest.Indexer(nil)
	for i := range list.Items {
		var obj runtime.Object = &duckv1.AddressableType{}
		if duck.FromUnstructured(&list.Items[i], obj) != nil {
			obj = &list.Items[i]
		}
		if err := indexer.Add(obj); err != nil {
			return nil, nil, err
		}
	}
	return nil, cache.NewGenericLister(indexer, gvr.GroupResource()), nil
}

// unserved makes the API server serve no kind Duck.
func unserved() clientgotesting.ReactionFunc {
	return reconcilertest.Failing("list", "ducks", apierrors.NewNotFound(ducks.GroupResource(), ""))
}

// observers returns the names of the objects that a change of obj enqueues after the reconciliations so far.
func (w *world) observers(obj any) string {
	var names []string
	for _, key := range w.inner.tracker.GetObservers(obj) {
		names = append(names, key.Name)
	}
	return strings.Join(names, " ")
}
