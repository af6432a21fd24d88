/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	discoveryfake "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
)

// The API server serves kind Gateway as gateways, which knative.dev/pkg guesses to be gatewaies.
var (
	topics    = schema.GroupVersionResource{Group: "net.example.com", Version: "v1", Resource: "topics"}
	gateways  = schema.GroupVersionResource{Group: "net.example.com", Version: "v1", Resource: "gateways"}
	gatewaies = schema.GroupVersionResource{Group: "net.example.com", Version: "v1", Resource: "gatewaies"}
)

func object(kind, name string, address any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "net.example.com/v1", "kind": kind, "metadata": map[string]any{"namespace": "default", "name": name, "uid": "1", "resourceVersion": "999"},
		"status": map[string]any{"address": address},
	}}
}

// invented returns one of 200 kinds that no API server serves, in 100 groups.
func invented(n int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: fmt.Sprintf("invented%d.example.com", n%100), Version: "v1", Resource: "inventeds" + strconv.Itoa(n/100)}
}

// clientsOf returns the clients of the factories.
func clientsOf(upstream, hardened duck.InformerFactory) (*dynamicfake.FakeDynamicClient, *discoveryfake.FakeDiscovery) {
	return upstream.(*duck.CachedInformerFactory).Delegate.(*duck.TypedInformerFactory).Client.(*dynamicfake.FakeDynamicClient),
		fakekubeclient.Get(hardened.(*factory).ctx).Discovery().(*discoveryfake.FakeDiscovery)
}

// serve makes discovery answer with resources of net.example.com/v1.
func serve(upstream, hardened duck.InformerFactory, resources ...metav1.APIResource) {
	_, discovery := clientsOf(upstream, hardened)
	f := hardened.(*factory)
	f.discovery.Lock() // the client has none
	defer f.discovery.Unlock()
	discovery.Resources = []*metav1.APIResourceList{{GroupVersion: "net.example.com/v1", APIResources: resources}}
}

// newDucks returns a factory, upstream's and ours, over these objects.
func newDucks(t *testing.T, objects ...*unstructured.Unstructured) (upstream, hardened duck.InformerFactory) {
	t.Helper()
	p, _ := newProcess(t)
	ctx, kube := fakekubeclient.With(logging.WithLogger(t.Context(), p.logger()))
	kube.Discovery().(*discoveryfake.FakeDiscovery).Resources = []*metav1.APIResourceList{{GroupVersion: "net.example.com/v1", APIResources: []metav1.APIResource{
		{Name: "topics", Kind: "Topic"}, {Name: "gateways", Kind: "Gateway"}, {Name: "gateways/status", Kind: "Gateway"},
	}}}
	kinds := map[schema.GroupVersionResource]string{topics: "TopicList", gateways: "GatewayList", gatewaies: "GatewayList"}
	for n := range 200 {
		kinds[invented(n)] = "InventedList"
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
	client.PrependReactor("*", "gatewaies", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(gatewaies.GroupResource(), "")
	})
	for _, o := range objects {
		resource := map[string]schema.GroupVersionResource{"Topic": topics, "Gateway": gateways}[o.GetKind()]
		if _, err := client.Resource(resource).Namespace("default").Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	upstream = &duck.CachedInformerFactory{Delegate: &duck.TypedInformerFactory{Client: client, Type: &duckv1.AddressableType{}, ResyncPeriod: time.Hour, StopChannel: t.Context().Done()}}
	return upstream, p.duckFactory(ctx, upstream)
}

// await calls Get until the first list of a resource has completed.
func await(t *testing.T, f duck.InformerFactory, gvr schema.GroupVersionResource) cache.GenericLister {
	t.Helper()
	var lister cache.GenericLister
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		var err error
		_, lister, err = f.Get(ctx, gvr)
		if err != nil && !errors.Is(err, errNotSynced) {
			return false, err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lister
}

func TestDucks_ObjectDoesNotFit_OthersCanBeRead(t *testing.T) {
	_, hardened := newDucks(t, object("Topic", "good", map[string]any{"url": "http://good.example.com"}), object("Topic", "bad", "text"))
	lister := await(t, hardened, topics)
	good, err := lister.ByNamespace("default").Get("good")
	if a, ok := good.(*duckv1.AddressableType); !ok || err != nil || a.Status.Address.URL.String() != "http://good.example.com" {
		t.Errorf("the object that fits is %v, %v", good, err)
	}
	if bad, err := lister.ByNamespace("default").Get("bad"); err != nil {
		t.Errorf("the object that does not fit is %v, %v", bad, err)
	} else if _, ok := bad.(*duckv1.AddressableType); ok {
		t.Error("the object that does not fit has the duck type")
	}
}

func TestDucks_FirstListIsUnderWay_GetWaitsForAMoment(t *testing.T) {
	upstream, hardened := newDucks(t)
	if _, _, err := hardened.Get(t.Context(), topics); err != nil {
		t.Errorf("Get() while a short list is under way: %v", err)
	}
	release := make(chan struct{})
	defer close(release)
	client, _ := clientsOf(upstream, hardened)
	client.PrependReactor("list", "gateways", func(clientgotesting.Action) (bool, runtime.Object, error) {
		<-release
		return false, nil, nil
	})
	returned := make(chan struct{})
	go func() {
		_, _, _ = upstream.Get(t.Context(), gateways)
		close(returned)
	}()
	for n, limit := range []time.Duration{firstListLimit + time.Second, time.Second} {
		started := time.Now()
		if _, _, err := hardened.Get(t.Context(), gateways); !errors.Is(err, errNotSynced) || time.Since(started) > limit {
			t.Errorf("call %d while a long list is under way: %v, after %s", n, err, time.Since(started))
		}
	}
	select {
	case <-returned:
		t.Error("the factory of knative.dev/pkg has returned, too")
	default:
	}
}

func TestDucks_FirstCallerHasEnded_TheNextOneSucceeds(t *testing.T) {
	_, hardened := newDucks(t)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := hardened.Get(ended, topics); err != nil {
		t.Errorf("Get() = %v", err)
	}
	await(t, hardened, topics)
}

// contexts is a factory that fails if the context has ended, as requests do.
type contexts struct{}

func (contexts) Get(ctx context.Context, _ schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	return nil, nil, ctx.Err()
}

func TestDucks_Upstream_FirstCallerHasEnded_EachLaterOneFails(t *testing.T) {
	upstream := &duck.CachedInformerFactory{Delegate: contexts{}}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, ctx := range []context.Context{ended, t.Context()} {
		if _, _, err := upstream.Get(ctx, topics); !errors.Is(err, context.Canceled) {
			t.Errorf("Get() = %v", err)
		}
	}
}

func TestDucks_IrregularPlural_IsFound(t *testing.T) {
	if guessed, _ := meta.UnsafeGuessKindToResource(gateways.GroupVersion().WithKind("Gateway")); guessed != gatewaies {
		t.Errorf("the plural of Gateway is guessed to be %s", guessed.Resource)
	}
	_, hardened := newDucks(t, object("Gateway", "main", map[string]any{"url": "http://main.example.com"}))
	if _, err := await(t, hardened, gatewaies).ByNamespace("default").Get("main"); err != nil {
		t.Error(err)
	}
}

// An API server checks permissions before it looks for the resource.
func TestDucks_NotAuthorizedToListTheGuess_DiscoveryDecides(t *testing.T) {
	upstream, hardened := newDucks(t, object("Gateway", "main", map[string]any{"url": "http://main.example.com"}))
	client, _ := clientsOf(upstream, hardened)
	for _, refused := range []schema.GroupVersionResource{gatewaies, topics} {
		client.PrependReactor("list", refused.Resource, func(clientgotesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(refused.GroupResource(), "", nil)
		})
	}
	await(t, hardened, gatewaies)
	for resource, is := range map[schema.GroupVersionResource]func(error) bool{topics: apierrors.IsForbidden, invented(0): apierrors.IsNotFound} {
		if _, _, err := hardened.Get(t.Context(), resource); !is(err) {
			t.Errorf("Get() of %s = %v", resource.Resource, err)
		}
	}
}

func TestDucks_InventedKinds_CostFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		upstream, hardened := newDucks(t)
		dynamic, discovery := clientsOf(upstream, hardened)
		started := time.Now()
		for n := range 200 {
			if _, _, err := hardened.Get(t.Context(), invented(n)); !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		}
		for _, period := range []time.Duration{10 * time.Second, 5 * time.Minute} {
			time.Sleep(period) //nolint:forbidigo // the bubble's clock
			lists, requests := len(dynamic.Actions()), len(discovery.Actions())
			if limit := int(4 * time.Since(started).Seconds()); lists > 0 || requests > limit {
				t.Errorf("200 kinds have cost %d lists and %d other requests in %v, want none and at most %d", lists, requests, time.Since(started), limit)
			}
		}
	})
}

// deleteTopics ends a watch of topics and serves them no more. It returns how often they were listed since.
func deleteTopics(t *testing.T, upstream, hardened, used duck.InformerFactory) (lists func() int) {
	t.Helper()
	client, _ := clientsOf(upstream, hardened)
	watcher := watch.NewRaceFreeFake()
	client.PrependWatchReactor("topics", clientgotesting.DefaultWatchReactor(watcher, nil))
	await(t, used, topics)
	client.PrependReactor("list", "topics", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(topics.GroupResource(), "")
	})
	serve(upstream, hardened)
	if used == hardened {
		time.Sleep(sharedFor) //nolint:forbidigo // nothing reports its end
	}
	client.ClearActions()
	watcher.Stop()
	return func() int {
		return len(slices.DeleteFunc(client.Actions(), func(a clientgotesting.Action) bool { return a.GetVerb() != "list" }))
	}
}

func TestDucks_ResourceIsDeleted_IsListedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		upstream, hardened := newDucks(t)
		lists := deleteTopics(t, upstream, hardened, hardened)
		time.Sleep(10 * time.Minute) //nolint:forbidigo // the bubble's clock
		if got := lists(); got != 1 {
			t.Errorf("it was listed %d times", got)
		}
		serve(upstream, hardened, metav1.APIResource{Name: "topics", Kind: "Topic"})
		time.Sleep(time.Minute + sharedFor) //nolint:forbidigo // the bubble's clock
		if lists() < 2 {
			t.Error("once it is served again, it is not listed")
		}
	})
}

// A user chooses the kind, and so the error.
func TestDucks_AnswerOfTheAPIServer_IsOneWarning(t *testing.T) {
	for _, answer := range []*apierrors.StatusError{
		apierrors.NewNotFound(topics.GroupResource(), ""), apierrors.NewForbidden(topics.GroupResource(), "", nil),
		apierrors.NewMethodNotSupported(topics.GroupResource(), "list"), apierrors.NewInternalError(errors.New("the conversion failed")),
		apierrors.NewServiceUnavailable("no endpoint"), apierrors.NewBadRequest("no version"),
		apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "list", topics.GroupResource(), "", "", 0, true),
	} {
		synctest.Test(t, func(t *testing.T) {
			upstream, hardened := newDucks(t)
			client, _ := clientsOf(upstream, hardened)
			client.PrependReactor("list", "topics", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, nil, answer })
			core, logs := observer.New(zap.DebugLevel)
			hardened.(*factory).process.log.Store(zap.New(core).Sugar())
			_, _, _ = hardened.Get(t.Context(), topics)
			time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
			if logs.FilterLevelExact(zap.WarnLevel).Len() != 1 || logs.Len() != 1 {
				t.Errorf("log: %v", logs.All())
			}
			onWatchError(t.Context(), nil, answer) // would use the reflector if it called upstream's
		})
	}
}

func TestDucks_CacheLacksOwnWrite_IsBehind(t *testing.T) {
	_, hardened := newDucks(t, object("Topic", "good", nil))
	await(t, hardened, topics)
	for _, tc := range []struct {
		method, path, name, version string
		want                        bool
	}{
		{http.MethodPatch, "topics/good/status", "good", "999", false},
		{http.MethodPatch, "topics/good/status", "good", "1000", true},
		{http.MethodPost, "topics", "good", "999", false},
		{http.MethodPost, "topics", "new", "1000", true},
		{http.MethodPost, "others", "new", "1000", false},
	} {
		w := newWrites(&hardened.(*factory).process.informers)
		request := httptest.NewRequestWithContext(t.Context(), tc.method, "/apis/net.example.com/v1/namespaces/default/"+tc.path, nil)
		written := object("Topic", tc.name, nil)
		written.SetResourceVersion(tc.version)
		response, err := answer(http.StatusOK, written)
		if err != nil {
			t.Fatal(err)
		}
		if err = recordWrite(request, response, func(written write) { w.record(one, written) }); err != nil {
			t.Fatal(err)
		}
		if behind := w.behind(one); behind != tc.want {
			t.Errorf("after %+v, the cache is behind: %t", tc, behind)
		}
	}
}

func TestDucks_ProcessOfOneNamespace_ReadsNoOther(t *testing.T) {
	_, f := newDucks(t, object("Topic", "good", nil))
	f.(*factory).ctx = injection.WithNamespaceScope(f.(*factory).ctx, "other")
	if topics, err := await(t, f, topics).List(labels.Everything()); err != nil || len(topics) > 0 {
		t.Errorf("objects of other namespaces were read: %v, %v", topics, err)
	}
}

// The faults of upstream: if this test fails, they are repaired there.
func TestDucks_Upstream_ObjectDoesNotFit_NothingCanBeRead(t *testing.T) {
	upstream, _ := newDucks(t, object("Topic", "good", map[string]any{"url": "http://good.example.com"}), object("Topic", "bad", "text"))
	returned := make(chan struct{})
	go func() {
		_, _, _ = upstream.Get(t.Context(), topics)
		close(returned)
	}()
	select {
	case <-returned:
		t.Error("Get has returned")
	case <-time.After(2 * time.Second):
	}
}

func TestDucks_Upstream_DeletedResource_IsListedIndefinitely(t *testing.T) {
	upstream, hardened := newDucks(t)
	lists := deleteTopics(t, upstream, hardened, upstream)
	eventually(t, "it is listed again", func() bool { return lists() >= 3 })
}
