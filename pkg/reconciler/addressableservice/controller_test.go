/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakedynamic "k8s.io/client-go/dynamic/fake"

	"knative.dev/pkg/client/injection/ducks/duck/v1/addressable"
	_ "knative.dev/pkg/client/injection/ducks/duck/v1/addressable/fake"
	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/core/v1/service/fake"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	_ "knative.dev/pkg/injection/clients/dynamicclient/fake"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	fakesamplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client/fake"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice/fake"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// running is a controller as NewController makes it, with its informers, workers
// and configuration, on fake clients.
type running struct {
	ctx     context.Context //nolint:containedctx // the clients are in it
	watcher *configmap.ManualWatcher
}

func run(t *testing.T) *running {
	t.Helper()
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	// The one that is injected does not know our kinds.
	ctx = addressable.WithDuck(context.WithValue(ctx, dynamicclient.Key{}, fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{ducks: "DuckList"})))
	r := &running{ctx: ctx, watcher: &configmap.ManualWatcher{Namespace: "knative-samples"}}
	impl := NewController(ctx, r.watcher)
	r.configure("example.com")
	reconcilertest.Run(ctx, t, cancel, informers, impl)
	return r
}

func (r *running) configure(domain string) { r.configureIn(directory, domain) }

func (r *running) configureIn(directory, domain string) {
	cm := &corev1.ConfigMap{Data: map[string]string{"domain": domain, "directory-namespace": directory}}
	cm.Namespace, cm.Name = "knative-samples", config.AddressableName
	r.watcher.OnChange(cm)
}

// becomes waits until an object has a URL, or none, and is Ready accordingly. The status has to be of its generation, because the fake client writes
// the spec along with a status.
func (r *running) becomes(t *testing.T, name, url string) {
	t.Helper()
	var last *v1.AddressableService
	err := wait.PollUntilContextTimeout(r.ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		last, err = fakesamplesclient.Get(ctx).SamplesV1().AddressableServices(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil || last.Status.ObservedGeneration != last.Generation {
			return false, err
		}
		ready := last.Status.GetCondition(v1.AddressableServiceConditionReady)
		if last.Status.Address == nil {
			return url == "" && ready.IsFalse(), nil
		}
		return last.Status.Address.URL.String() == url && ready.IsTrue(), nil
	})
	if err != nil {
		t.Fatalf("%s does not get URL %q: %v; its status is %+v", name, url, err, last.Status)
	}
}

func (r *running) create(t *testing.T, objs ...*v1.AddressableService) {
	t.Helper()
	for _, as := range objs {
		if _, err := fakesamplesclient.Get(r.ctx).SamplesV1().AddressableServices(ns).Create(r.ctx, as, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *running) change(t *testing.T, name string, mods ...mod) {
	t.Helper()
	objects := fakesamplesclient.Get(r.ctx).SamplesV1().AddressableServices(ns)
	as, err := objects.Get(r.ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mods {
		m(as)
	}
	as.Generation++
	// The fake does not count versions, and an update without a new one is a resync.
	as.ResourceVersion = strconv.FormatInt(as.Generation, 10)
	if _, err := objects.Update(r.ctx, as, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestController_TargetChanges_Reconciles(t *testing.T) {
	r := run(t)
	services := fakekubeclient.Get(r.ctx).CoreV1().Services(ns)
	r.create(t, object("a"), object("b", refTo("a")))
	r.becomes(t, "a", "")
	r.becomes(t, "b", "")
	for range 2 {
		if _, err := services.Create(r.ctx, service(ns, "target"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		r.becomes(t, "a", "http://"+host)
		r.becomes(t, "b", "http://"+host)
		if err := services.Delete(r.ctx, "target", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		r.becomes(t, "a", "")
		r.becomes(t, "b", "")
	}
}

func TestController_ConfigMapChanges_Reconciles(t *testing.T) {
	r := run(t)
	if _, err := fakekubeclient.Get(r.ctx).CoreV1().Services(ns).Create(r.ctx, service(ns, "target"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.create(t, object("a", public))
	r.becomes(t, "a", "https://a.ns.example.com")
	r.configure("not a domain")
	r.configure("example.org")
	r.becomes(t, "a", "https://a.ns.example.org")
}

func TestController_ConfigMapChanges_EnqueuesObjectsOfOurClassOnly(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	r := &running{ctx: ctx, watcher: &configmap.ManualWatcher{Namespace: "knative-samples"}}
	impl := NewController(ctx, r.watcher)
	indexer := addressableserviceinformer.Get(ctx).Informer().GetIndexer()
	for _, as := range []*v1.AddressableService{object("a"), object("b", withClass("other")), object("c", withoutClass), object("d")} {
		if err := indexer.Add(as); err != nil {
			t.Fatal(err)
		}
	}
	r.configure("example.org")
	if got := enqueued(impl); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("enqueued are %q, want those of our class", got)
	}
}

// A replica that does not lead reconciles no object.
func TestController_AnotherLeaderDeletesTheObject_ItsReferencesAreForgotten(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	r := &running{ctx: ctx, watcher: &configmap.ManualWatcher{Namespace: "knative-samples"}}
	impl := NewController(ctx, r.watcher)
	stop, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		stop()
	})
	r.create(t, object("a"))
	ref := tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: ns, Name: "target"}
	if err := impl.Tracker.TrackReference(ref, object("a")); err != nil {
		t.Fatal(err)
	}
	target := service(ns, "target")
	target.SetGroupVersionKind(serviceKind)
	if observers := impl.Tracker.GetObservers(target); len(observers) != 1 {
		t.Fatalf("the observers are %v", observers)
	}
	if err := fakesamplesclient.Get(ctx).SamplesV1().AddressableServices(ns).Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		return len(impl.Tracker.GetObservers(target)) == 0, nil
	}); err != nil {
		t.Errorf("the observers are %v", impl.Tracker.GetObservers(target))
	}
}

// enqueued shuts the queue down, and returns the names of its keys.
func enqueued(impl *controller.Impl) []string {
	impl.WorkQueue().ShutDown()
	names := sets.New[string]()
	for {
		key, ended := impl.WorkQueue().Get()
		if ended && key == nil {
			return sets.List(names)
		}
		names.Insert(key.(types.NamespacedName).Name)
		impl.WorkQueue().Done(key)
	}
}

// Outside of the directory, any user can create Services that look like aliases.
func TestController_AliasThatNoObjectTracks_EnqueuesItsOwnerOnlyInADirectory(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	r := &running{ctx: ctx, watcher: &configmap.ManualWatcher{Namespace: "knative-samples"}}
	impl := NewController(ctx, r.watcher)
	r.configureIn(formerDirectory, "example.com")
	r.configure("example.com")
	for _, s := range []*corev1.Service{
		alias("one", "left", host), alias("four", "late", host, func(s *corev1.Service) { s.Namespace = formerDirectory }), alias("two", "claimed", host, claimed), service(directory, "other"),
		alias("three", "malformed", host, func(s *corev1.Service) { s.Annotations[samples.AliasOwnerAnnotationKey] = "a/b/c" }),
	} {
		if _, err := fakekubeclient.Get(ctx).CoreV1().Services(s.Namespace).Create(ctx, s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		return impl.WorkQueue().Len() > 1, nil
	}); err != nil {
		t.Fatal(err)
	}
	// Returns once each handler has returned.
	cancel()
	stopped()
	if got := enqueued(impl); !slices.Equal(got, []string{"late", "left"}) {
		t.Errorf("enqueued are %q, want the owners of the aliases in the directory and in the former one", got)
	}
}

func TestController_TargetOfACustomKindChanges_Reconciles(t *testing.T) {
	r := run(t)
	r.create(t, object("a", toDuck))
	r.becomes(t, "a", "")
	client := dynamicclient.Get(r.ctx).Resource(ducks).Namespace(ns)
	if _, err := client.Create(r.ctx, aDuck(ns, "d", addressStatus("http://d.example.com")), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(t, "a", "http://d.example.com")
	if _, err := client.Update(r.ctx, aDuck(ns, "d", addressStatus("http://other.example.com")), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(t, "a", "http://other.example.com")
}

func TestChain_LinkChangesItsReference_EveryObjectBehindFollows(t *testing.T) {
	r := run(t)
	if _, err := fakekubeclient.Get(r.ctx).CoreV1().Services(ns).Create(r.ctx, service(ns, "target"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const length, url = maxHops + 4, "http://" + host
	name := func(i int) string { return fmt.Sprintf("n%d", i) }
	r.create(t, object(name(0)))
	for i := range length {
		r.create(t, object(name(i+1), refTo(name(i))))
	}
	check := func(resolved int) {
		t.Helper()
		for i := range length + 1 {
			if i <= resolved {
				r.becomes(t, name(i), url)
			} else {
				r.becomes(t, name(i), "")
			}
		}
	}
	check(maxHops)
	// The address of the link stays the same.
	r.change(t, name(20), withRef("v1", "Service", "", "target"))
	check(length)
	r.change(t, name(20), refTo(name(19)))
	check(maxHops)
}

func TestController_AliasDeleted_IsRecreated(t *testing.T) {
	r := run(t)
	kube := fakekubeclient.Get(r.ctx).CoreV1()
	if _, err := kube.Namespaces().Create(r.ctx, namespace(directory), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.Services(ns).Create(r.ctx, service(ns, "target"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.create(t, object("a", asAl))
	r.becomes(t, "a", "http://"+host)
	if err := kube.Services(directory).Delete(r.ctx, "al", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(r.ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := kube.Services(directory).Get(ctx, "al", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		t.Errorf("the alias is not put back: %v", err)
	}
}
