/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/psbinding"
	conversions "knative.dev/pkg/webhook/resourcesemantics/conversion"
)

// newBindings and newConversions are constructors of upstream's webhooks that few programs have.
func newBindings(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	all := func(context.Context, cache.ResourceEventHandler) psbinding.ListAll {
		return func() ([]psbinding.Bindable, error) { return nil, nil }
	}
	return psbinding.NewAdmissionController(ctx, "bindings.example.com", "/bindings", all, nil)
}

func newConversions(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	kinds := map[schema.GroupKind]conversions.GroupKindConversion{{Group: "example.com", Kind: "Kind"}: {DefinitionName: "kinds.example.com"}}
	return conversions.NewConversionController(ctx, "/convert", kinds, nil)
}

func TestConstructor_BindingsAndConversions_AnswerAsUpstreams(t *testing.T) {
	ctx, _, p := setup(t)
	ctx = webhook.WithOptions(logging.WithLogger(ctx, p.logger()), webhook.Options{SecretName: "certs"})
	for name, constructor := range map[string]injection.ControllerConstructor{"psbinding": newBindings, "conversion": newConversions} {
		t.Run(name, func(t *testing.T) {
			upstream, hardened := constructor(ctx, nil), p.constructor(constructor)(ctx, nil)
			if _, ok := hardened.Reconciler.(reconciler.LeaderAware); !ok {
				t.Error("it does not take part in the election")
			}
			answer := func(impl *controller.Impl) any {
				switch r := impl.Reconciler.(type) {
				case webhook.AdmissionController:
					return r.Admit(ctx, &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"kind":"Pod"}`)}})
				case webhook.ConversionController:
					return r.Convert(ctx, &apiextensionsv1.ConversionRequest{UID: "1", DesiredAPIVersion: "example.com/v1", Objects: []runtime.RawExtension{{Raw: []byte(`{"kind":"Other"}`)}}})
				}
				return nil
			}
			if want, got := answer(upstream), answer(hardened); want == nil || !reflect.DeepEqual(want, got) {
				t.Errorf("it answers %+v, upstream's %+v", got, want)
			}
		})
	}
}

func TestInjectors_Numbers_AreUpstreams(t *testing.T) {
	numbers := func() []int {
		i := injection.Default
		return []int{len(i.GetClients()), len(i.GetInformerFactories()), len(i.GetInformers()), len(i.GetFilteredInformers()), len(i.GetDucks())}
	}
	want := numbers()
	setup(t)
	want[4]++ // the rehearsal, which is no factory of ducks but runs at their time
	if got := numbers(); !slices.Equal(got, want) {
		t.Errorf("clients, factories, informers, filtered informers, ducks: %v, want %v", got, want)
	}
}

func TestElection_SeveralBucketsOrStatefulSet_KeysOfLedBucketsAreReconciled(t *testing.T) {
	for name, statefulSet := range map[string]bool{"several buckets": false, "StatefulSet": true} {
		t.Run(name, func(t *testing.T) {
			p, _ := newProcess(t)
			var mu sync.Mutex
			var reconciled []string
			leading := &aware{}
			impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
				return newImpl(ctx, struct {
					reconcileFunc
					*aware
				}{func(_ context.Context, key string) error {
					namespace, name, _ := cache.SplitMetaNamespaceKey(key)
					if !leading.IsLeaderFor(types.NamespacedName{Namespace: namespace, Name: name}) {
						return controller.NewSkipKey(key)
					}
					mu.Lock()
					defer mu.Unlock()
					reconciled = append(reconciled, namespace)
					return nil
				}, leading})
			})
			// The elector of a StatefulSet leads the bucket of the process from the start; the other one promotes and demotes each bucket by itself.
			ctx, cancel := context.WithCancel(logging.WithLogger(t.Context(), p.logger()))
			promoted := impl.Reconciler.(reconciler.LeaderAware)
			own := bucketOf("a")
			if statefulSet {
				ctx = leaderelection.WithStatefulSetElectorBuilder(ctx, leaderelection.ComponentConfig{Component: "test"}, own)
			} else {
				ctx = leaderelection.WithStatefulSetElectorBuilder(ctx, leaderelection.ComponentConfig{Component: "test"}, namedBucket{own, "first"})
				if err := promoted.Promote(namedBucket{bucketOf("b"), "second"}, nil); err != nil {
					t.Fatal(err)
				}
				if err := promoted.Promote(namedBucket{bucketOf("c"), "third"}, nil); err != nil {
					t.Fatal(err)
				}
				promoted.Demote(namedBucket{bucketOf("c"), "third"})
			}
			want := []string{"a"}
			if !statefulSet {
				want = []string{"a", "b"}
			}
			for _, namespace := range []string{"c", "b", "a"} {
				impl.EnqueueKey(types.NamespacedName{Namespace: namespace, Name: "object"})
			}
			done := make(chan error)
			go func() { done <- impl.RunContext(ctx, 1) }()
			eventually(t, "the queue is empty", func() bool { return impl.WorkQueue().Len() == 0 })
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if slices.Sort(reconciled); !slices.Equal(reconciled, want) {
				t.Errorf("reconciled in the namespaces %v, want %v", reconciled, want)
			}
		})
	}
}

// namedBucket is one of several buckets.
type namedBucket struct {
	reconciler.Bucket

	name string
}

func (b namedBucket) Name() string { return b.name }

func TestConstructor_WrappedTwice_HardensOnce(t *testing.T) {
	p, _ := newProcess(t)
	inner := func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { panic("boom") }))
	}
	impl := construct(t, p, p.constructor(inner))
	if err := impl.Reconciler.Reconcile(t.Context(), "default/a"); err == nil {
		t.Error("the panic is no error")
	}
	h := impl.Reconciler.(*hardened)
	if _, once := h.inner.(reconcileFunc); !once || h.tracker == nil || any(h.tracker) != any(impl.Tracker) {
		t.Errorf("the reconciler is a %T around a %T with tracker %p", h, h.inner, h.tracker)
	}
}

// A controller made while the process runs has its own tracker and containment.
func TestConstructor_CalledWithAKeptContext_IsHardenedToo(t *testing.T) {
	p, logs := newProcess(t)
	var kept context.Context
	none := reconcileFunc(func(context.Context, string) error { return nil })
	construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		kept = ctx //nolint:fatcontext // for the later controller
		return newImpl(ctx, none)
	})
	later := p.constructor(func(ctx context.Context, _ configmap.Watcher) *controller.Impl { return newImpl(ctx, none) })(kept, configmap.NewStaticWatcher())
	if h, ok := later.Reconciler.(*hardened); !ok || h.tracker == nil || any(later.Tracker) != any(h.tracker) {
		t.Errorf("the later controller is a %T with the tracker %T", later.Reconciler, later.Tracker)
	}
	if logs.FilterMessageSnippet("not hardened").Len() > 0 {
		t.Errorf("log: %v", logs.All())
	}
}

// Programs keep the context of a constructor, and read it in any goroutine. The race detector is a part of the nightly tests.
func TestConstructor_KeptContext_IsReadByManyGoroutines(t *testing.T) {
	p, logs := newProcess(t)
	none := reconcileFunc(func(context.Context, string) error { return nil })
	var readers sync.WaitGroup
	var ours atomic.Int64
	construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		impl := newImpl(ctx, none)
		for range 8 {
			readers.Go(func() {
				for range 100 {
					if ctx.Value(trackerKey) != nil {
						ours.Add(1)
					}
					if _, tracks := newImpl(ctx, none).Tracker.(*tracking); tracks {
						ours.Add(1)
					}
				}
			})
		}
		return impl
	})
	readers.Wait()
	if ours.Load() > 0 {
		t.Errorf("%d lookups returned the tracker of the first controller", ours.Load())
	}
	if got := logs.FilterMessageSnippet("not hardened").Len(); got != 1 {
		t.Errorf("that is in the log %d times", got)
	}
}

func TestConstructor_ReturnsItsSecondController_EndsTheStart(t *testing.T) {
	p, logs := newProcess(t)
	none := reconcileFunc(func(context.Context, string) error { return nil })
	defer func() {
		if recover() == nil || logs.FilterMessageSnippet("A constructor made two controllers and returned the second one, Test,").Len() != 1 {
			t.Errorf("log: %v", logs.All())
		}
	}()
	logger := p.logger().WithOptions(zap.WithFatalHook(zapcore.WriteThenPanic))
	p.constructor(func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		newImpl(ctx, none)
		return newImpl(ctx, none)
	})(logging.WithLogger(t.Context(), logger), nil)
}

func TestUpstream_ConfigMaps_ErrorNamesNoKey(t *testing.T) {
	if _, err := logging.NewConfigFromMap(map[string]string{"loglevel.controller": "loud"}); err == nil || strings.Contains(err.Error(), "loglevel") {
		t.Errorf("error: %v", err)
	}
}
