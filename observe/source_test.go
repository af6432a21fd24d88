/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// labeled returns a transform that sets a label. Each call returns another closure of the same code, if it is not inlined.
//
//go:noinline
func labeled(value string) cache.TransformFunc {
	return func(obj any) (any, error) {
		obj.(metav1.Object).SetLabels(map[string]string{"by": value})
		return obj, nil
	}
}

func ignoreSecret(context.Context, Event[*corev1.Secret]) error { return nil }

// newProcess returns the context of a process that ends with the test, and its hub.
func newProcess(t *testing.T) (context.Context, *hub) {
	t.Helper()
	ctx, cancel := context.WithCancel(logging.WithLogger(context.Background(), zap.NewNop().Sugar()))
	ctx, _ = attach(ctx)
	t.Cleanup(cancel)
	h, err := hubFrom(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, h
}

// until waits for a condition.
func until(ctx context.Context, t *testing.T, holds func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil }); err != nil {
		t.Fatal(err)
	}
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

func TestSource_ClosuresOfOneFunction_AreDifferent(t *testing.T) {
	clients := func() func(context.Context) kubernetes.Interface {
		var client kubernetes.Interface
		return func(context.Context) kubernetes.Interface { return client }
	}
	one, other := clients(), clients()
	key := func(client func(context.Context) kubernetes.Interface) sourceKey {
		return Selected[*corev1.Secret](client, coreinformers.NewFilteredSecretInformer).key
	}
	if key(one) != key(one) {
		t.Error("sources with the same client and the same constructor do not share a watch")
	}
	if key(one) == key(other) {
		t.Error("sources with different clients share a watch")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := newProcess(t)
		server, first := newAPIServer(), labeled("first")
		for want, transform := range map[string]cache.TransformFunc{"": first, "another Transform": labeled("second")} {
			subscriptions := []*Subscription{nil, nil}
			var err error
			for i, f := range []cache.TransformFunc{first, transform} {
				if subscriptions[i], err = Subscribe(ctx, "it", ofSecrets(server, Transform(f)), ignoreSecret); err != nil {
					break
				}
			}
			if want != "" {
				expectError(t, err, want)
			} else if err != nil {
				t.Errorf("got %v, want no error for the same transform", err)
			}
			for _, s := range subscriptions {
				if s != nil {
					if err := s.Stop(ctx); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

func TestNamed_Watch_IsThatOfOneObject(t *testing.T) {
	var options metav1.ListOptions
	secrets := corev1.SchemeGroupVersion.WithResource("secrets")
	key := Metadata(secrets, Named("ns", "it")).key
	key.tweak(&options)
	if key.namespace != "ns" || options.FieldSelector != "metadata.name=it" {
		t.Errorf("the namespace is %q and the field selector %q", key.namespace, options.FieldSelector)
	}
	if key != Metadata(secrets, InNamespace("ns"), Fields("metadata.name=it")).key {
		t.Error("it does not share a watch with equal qualifiers")
	}
}

func TestSubscribe_Stopped_CacheIsReleased(t *testing.T) {
	ctx, _ := newProcess(t)
	server, received := newAPIServer(), make(chan weak.Pointer[corev1.Secret], 1)
	server.write("it")
	func() {
		subscription, err := Subscribe(ctx, "it", ofSecrets(server),
			func(_ context.Context, e Event[*corev1.Secret]) error {
				received <- weak.Make(e.Object)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		cached := <-received
		if err := subscription.Stop(ctx); err != nil {
			t.Error(err)
		}
		received <- cached
	}()
	cached := <-received
	until(ctx, t, func() bool {
		runtime.GC()
		return cached.Value() == nil
	})
}

// injected is the type of the informers that generated packages return.
type injected struct{ informer cache.SharedIndexInformer }

func (i injected) Informer() cache.SharedIndexInformer { return i.informer }

// injectedSecrets returns a function that makes sources of one informer that injection runs, and what starts it.
func injectedSecrets(ctx context.Context, server *apiServer) (source func(...Qualifier) Source[*corev1.Secret], start func()) {
	list := &cache.ListWatch{ListWithContextFunc: server.list, WatchFuncWithContext: server.watch}
	informer := cache.NewSharedIndexInformer(list, &corev1.Secret{}, controller.DefaultResyncPeriod, indexers())
	return func(qualifiers ...Qualifier) Source[*corev1.Secret] {
		return Injected[*corev1.Secret](func(context.Context) injected { return injected{informer} }, qualifiers...)
	}, func() { go informer.RunWithContext(ctx) }
}

// register registers an observer for the duration of a test.
func register(t *testing.T, source Source[*corev1.Secret], options Options[*corev1.Secret]) definition {
	t.Helper()
	before := registered()
	t.Cleanup(func() { registry.definitions = before })
	Register("registered", source, ignoreSecret, options)
	return registered()[len(before)]
}

func TestInjected_SameTransform_IsSetOnceBeforeTheStart(t *testing.T) {
	ctx, h := newProcess(t)
	server := newAPIServer()
	server.write("it")
	source, start := injectedSecrets(ctx, server)
	transform := labeled("it")
	register(t, source(Transform(transform)), Options[*corev1.Secret]{})
	Constructors()[0](ctx, nil)
	start()
	until(ctx, t, func() bool { return len(source().Lister(ctx).List()) == 1 })
	go h.Run(ctx.Done())
	until(ctx, t, h.HasSynced)
	for _, qualifiers := range [][]Qualifier{{Transform(transform)}, nil} {
		subscription, err := Subscribe(ctx, "late", source(qualifiers...), ignoreSecret)
		if err != nil {
			t.Fatal(err)
		}
		if err := subscription.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	if got := source().Lister(ctx).List(); len(got) != 1 || got[0].Labels["by"] != "it" {
		t.Errorf("cached are %v, want one transformed object", got)
	}
}

func TestInjected_AnotherTransform_IsAnError(t *testing.T) {
	ctx, _ := newProcess(t)
	source, _ := injectedSecrets(ctx, newAPIServer())
	if _, err := Subscribe(ctx, "first", source(Transform(labeled("first"))), ignoreSecret); err != nil {
		t.Fatal(err)
	}
	_, err := Subscribe(ctx, "second", source(Transform(labeled("second"))), ignoreSecret)
	expectError(t, err, "another Transform")
}

// Injection starts the informers and the hub at the same time, so it depends on chance whether a transform could be set then.
func TestInjected_TransformAfterTheStart_IsAnError(t *testing.T) {
	ctx, h := newProcess(t)
	source, _ := injectedSecrets(ctx, newAPIServer())
	h.started.Store(true)
	observer := register(t, source(Transform(labeled("it"))), Options[*corev1.Secret]{Inline: true})
	expectError(t, observer.start(h), "before the informers start")
	_, err := Subscribe(ctx, "late", source(Transform(labeled("it"))), ignoreSecret)
	expectError(t, err, "before the informers start")
}

func TestSubscribe_ResyncOfAnInjectedSource_IsAnError(t *testing.T) {
	ctx, _ := newProcess(t)
	source, _ := injectedSecrets(ctx, newAPIServer())
	_, err := Subscribe(ctx, "it", source(), ignoreSecret, Options[*corev1.Secret]{Resync: time.Second})
	expectError(t, err, "Options.Resync")
}

func TestLister_NoObjectsCanBeFound_Panics(t *testing.T) {
	ctx, _ := newProcess(t)
	for name, list := range map[string]func(){
		"the context is not that of a process": func() { ofSecrets(newAPIServer()).Lister(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if reason, _ := recover().(string); !strings.Contains(reason, name) {
					t.Errorf("the reason is %q", reason)
				}
			}()
			list()
		})
	}
	if got := ofSecrets(newAPIServer()).Lister(ctx).List(); !slices.Equal(got, nil) {
		t.Errorf("of a source that nothing observes are found %v", got)
	}
}

func TestInjected_ResyncOfARegisteredObserver_IsThatOfItsHandler(t *testing.T) {
	before := registered()
	t.Cleanup(func() { registry.definitions = before })
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := newProcess(t)
		server := newAPIServer()
		server.write("it")
		source, start := injectedSecrets(ctx, server)
		resyncs := 0
		registry.definitions = nil
		Register("it", source(), func(_ context.Context, e Event[*corev1.Secret]) error {
			if e.Resync {
				resyncs++
			}
			return nil
		}, Options[*corev1.Secret]{Resync: time.Minute, Scope: EveryReplica})
		impl := Constructors()[0](ctx, nil)
		go func() { _ = controller.StartAll(ctx, impl) }()
		start()
		pass(5*time.Minute + time.Second)
		if resyncs < 4 || resyncs > 5 {
			t.Errorf("the object was repeated %d times in five minutes, want 4 or 5", resyncs)
		}
	})
}
