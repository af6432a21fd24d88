/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientgotesting "k8s.io/client-go/testing"

	_ "knative.dev/pkg/client/injection/kube/client/fake"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	logtesting "knative.dev/pkg/logging/testing"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	samplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client"
	fakesamplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client/fake"
	filteredfactory "github.com/mallard-dev/mallard/pkg/client/injection/informers/factory/filtered"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice/fake"
	filteredinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice/filtered"
)

const selector = "example.com/mine=true"

// injected is a context as sharedmain gives it to constructors, for a server of the test's own, and what the informers
// there ask it for first.
func injected(t *testing.T, with ...func(context.Context) context.Context) (ctx context.Context, informers []controller.Informer, asked chan string) {
	t.Helper()
	asked = make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.URL.Path + "?" + r.URL.Query().Get("labelSelector"):
		default:
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	ctx = filteredfactory.WithSelectors(logtesting.TestContextWithLogger(t), selector)
	for _, f := range with {
		ctx = f(ctx) //nolint:fatcontext // two at the most
	}
	ctx, informers = injection.Default.SetupInformers(ctx, &rest.Config{Host: server.URL})
	return ctx, informers, asked
}

// asks runs an informer until it sends a request.
func asks(t *testing.T, informer controller.Informer, asked chan string) string {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		informer.Run(stop)
	}()
	defer func() {
		close(stop)
		<-ended
	}()
	select {
	case request := <-asked:
		return request
	case <-time.After(time.Minute):
		t.Error("the informer sends no request")
		return ""
	}
}

func TestInjection_ImportedInformer_IsInTheContextAndStarted(t *testing.T) {
	ctx, informers, asked := injected(t)
	informer := addressableserviceinformer.Get(ctx).Informer()
	if !slices.Contains(informers, controller.Informer(informer)) {
		t.Error("it is not among those that will be started")
	}
	if addressableserviceinformer.Get(ctx).Informer() != informer {
		t.Error("a second look gives another informer")
	}
	if got, want := asks(t, informer, asked), "/apis/samples.knative.dev/v1/addressableservices?"; got != want {
		t.Errorf("the informer requests %s, want %s", got, want)
	}
}

func TestInjection_FakeWithAContextOfTheTest_HasFakes(t *testing.T) {
	ctx, informers := injection.Fake.SetupInformers(logtesting.TestContextWithLogger(t), &rest.Config{})
	if _, err := fakesamplesclient.Get(ctx).SamplesV1().AddressableServices("ns").Create(ctx, object(), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if !slices.Contains(informers, controller.Informer(addressableserviceinformer.Get(ctx).Informer())) {
		t.Error("the informer is not among those that will be started")
	}
}

func TestInjection_MissingFromTheContext_Panics(t *testing.T) {
	for name, get := range map[string]func(context.Context){
		"a client":            func(ctx context.Context) { samplesclient.Get(ctx) },
		"an informer":         func(ctx context.Context) { addressableserviceinformer.Get(ctx) },
		"a filtered informer": func(ctx context.Context) { filteredinformer.Get(ctx, selector) },
		"filtered without a selector": func(ctx context.Context) {
			injection.Default.SetupInformers(ctx, &rest.Config{Host: "http://localhost"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it does not panic")
				}
			}()
			get(logtesting.TestContextWithLogger(t))
		})
	}
}

func TestInjection_NamespaceScope_ListsOneNamespace(t *testing.T) {
	ctx, _, asked := injected(t, func(ctx context.Context) context.Context { return injection.WithNamespaceScope(ctx, ns) })
	for name, informer := range map[string]controller.Informer{
		"/apis/samples.knative.dev/v1/namespaces/ns/addressableservices?":            addressableserviceinformer.Get(ctx).Informer(),
		"/apis/samples.knative.dev/v1/namespaces/ns/addressableservices?" + selector: filteredinformer.Get(ctx, selector).Informer(),
	} {
		if got := asks(t, informer, asked); got != name {
			t.Errorf("the informer requests %s, want %s", got, name)
		}
	}
}

func TestInjection_FilteredInformer_ListsBySelector(t *testing.T) {
	ctx, informers, asked := injected(t)
	informer := filteredinformer.Get(ctx, selector).Informer()
	if !slices.Contains(informers, controller.Informer(informer)) {
		t.Error("it is not among those that will be started")
	}
	if got, want := asks(t, informer, asked), "/apis/samples.knative.dev/v1/addressableservices?"+selector; got != want {
		t.Errorf("the informer requests %s, want %s", got, want)
	}
	if informer == addressableserviceinformer.Get(ctx).Informer() {
		t.Error("it is the one without a selector")
	}
}

func TestInjection_FakeClient_IsThatOfTheContext(t *testing.T) {
	ctx, client := fakesamplesclient.With(logtesting.TestContextWithLogger(t), object())
	client.PrependReactor("get", "addressableservices", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		get, ok := action.(clientgotesting.GetAction)
		return ok && get.GetName() == "broken", nil, errInduced
	})
	if _, err := samplesclient.Get(ctx).SamplesV1().AddressableServices(ns).Get(ctx, "a", metav1.GetOptions{}); err != nil {
		t.Errorf("the seeded object does not exist: %v", err)
	}
	if _, err := samplesclient.Get(ctx).SamplesV1().AddressableServices(ns).Get(ctx, "broken", metav1.GetOptions{}); err == nil {
		t.Error("the reaction is not called")
	}
}

// A client that is seeded before the informers are set up is replaced by them with an empty one.
func TestInjection_Fakes_AreSeededAfterSetup(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t, func(ctx context.Context) context.Context {
		ctx, _ = fakesamplesclient.With(ctx, object())
		return ctx
	})
	client := fakesamplesclient.Get(ctx)
	if _, err := client.SamplesV1().AddressableServices(ns).Get(ctx, "a", metav1.GetOptions{}); err == nil {
		t.Error("the object that was seeded before the setup exists")
	}
	if _, err := client.SamplesV1().AddressableServices(ns).Create(ctx, object(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := addressableserviceinformer.Get(ctx).Lister().AddressableServices(ns).Get("a"); err == nil {
		t.Error("the cache of an informer that does not run has what the client has")
	}
	if err := addressableserviceinformer.Get(ctx).Informer().GetIndexer().Add(object()); err != nil {
		t.Fatal(err)
	}
	if _, err := addressableserviceinformer.Get(ctx).Lister().AddressableServices(ns).Get("a"); err != nil {
		t.Errorf("the cache has not what it was given: %v", err)
	}
}

func TestInjection_TestHelpers_SetAVariable(t *testing.T) {
	if got := os.Getenv("KUBE_FEATURE_WatchListClient"); got != "false" {
		t.Errorf("KUBE_FEATURE_WatchListClient is %q, want false", got)
	}
}
