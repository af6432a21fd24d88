/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	configmapinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/configmap"
	filteredpodinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	kubefactory "knative.dev/pkg/client/injection/kube/informers/factory"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/environment"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	_ "knative.dev/pkg/system/testing"
)

// metricsInjector is an injector as Tekton registers them: it uses another informer, and returns a reporter.
func metricsInjector(ctx context.Context) (context.Context, controller.Informer) {
	return ctx, reporter{configmapinformer.Get(ctx).Informer()}
}

type reporter struct{ controller.Informer }

// once is an injector that cannot be called twice.
func once() injection.InformerInjector {
	called := false
	return func(ctx context.Context) (context.Context, controller.Informer) {
		if called {
			panic("called twice")
		}
		called = true
		return ctx, reporter{}
	}
}

// isolate gives the test its own copy of injection.Default, so that its injectors are not those of later tests.
func isolate(t *testing.T) {
	t.Helper()
	original := injection.Default
	isolated := reflect.New(reflect.TypeOf(original).Elem())
	isolated.Elem().Set(reflect.ValueOf(original).Elem())
	injection.Default = isolated.Interface().(injection.Interface)
	t.Cleanup(func() { injection.Default = original })
}

func setup(t *testing.T, off ...concern) (context.Context, []controller.Informer, *process) {
	t.Helper()
	isolate(t)
	p, _ := newProcess(t, append(off, probes)...)
	ctx := filteredfactory.WithSelectors(t.Context(), "a=b", "c=d")
	ctx, informers := (&injector{Interface: injection.Default, process: p}).SetupInformers(ctx, &rest.Config{Host: "http://127.0.0.1:1"})
	return ctx, informers, p
}

func TestInformers_EachKind_IsWrappedAndThereIsNoOther(t *testing.T) {
	isolate(t)
	injection.Default.RegisterInformer(metricsInjector)
	upstream := filteredfactory.WithSelectors(t.Context(), "a=b", "c=d")
	_, want := injection.Default.SetupInformers(upstream, &rest.Config{Host: "http://127.0.0.1:1"})

	ctx, got, p := setup(t)
	if len(got) != len(want) {
		t.Errorf("%d informers, upstream has %d", len(got), len(want))
	}
	for name, i := range map[string]cache.SharedIndexInformer{
		"ConfigMap": configmapinformer.Get(ctx).Informer(), "Pod a=b": filteredpodinformer.Get(ctx, "a=b").Informer(), "Pod c=d": filteredpodinformer.Get(ctx, "c=d").Informer(),
	} {
		if _, ok := i.(*informer); !ok {
			t.Errorf("the informer of %s is a %T", name, i)
		}
	}
	p.running.Store(false)
	stopped := make(chan struct{})
	close(stopped)
	if got[0].Run(stopped); !p.running.Load() {
		t.Error("the start of the informers is not noticed")
	}
	shared := 0
	for _, i := range want {
		if _, ok := i.(cache.SharedIndexInformer); ok {
			shared++
		}
	}
	if len(p.informers.list()) != shared {
		t.Errorf("%d informers are wrapped, want %d", len(p.informers.list()), shared)
	}
}

func TestInformers_MissedDeletion_IsDeliveredAsTheLastState(t *testing.T) {
	for _, off := range []bool{false, true} {
		p, _ := newProcess(t)
		p.off[tombstones] = off
		var delivered []any
		child := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Controller: new(bool)}}}}
		*child.OwnerReferences[0].Controller = true
		filtering := cache.FilteringResourceEventHandler{
			FilterFunc: controller.FilterControllerGVK(corev1.SchemeGroupVersion.WithKind("ConfigMap")),
			Handler:    cache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) { delivered = append(delivered, o) }},
		}
		p.wrap("Pod", nil).contained(filtering).OnDelete(cache.DeletedFinalStateUnknown{Key: "child", Obj: child})
		switch {
		case !off && (len(delivered) != 1 || delivered[0] != any(child)):
			t.Errorf("delivered: %v", delivered)
		case off && len(delivered) > 0:
			t.Error("the filters of knative.dev/pkg accept tombstones now: this concern is not needed anymore")
		}
	}
}

func TestInformers_HandlerPanics_OthersGoOn(t *testing.T) {
	p, logs := newProcess(t)
	h := p.wrap("Pod", nil).contained(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("boom") }})
	h.OnAdd(&corev1.Pod{}, false)
	if logs.FilterMessage("An event handler panicked").Len() != 1 {
		t.Errorf("log: %v", logs.All())
	}
}

// The field is the only thing on which the package depends that client-go does not export.
func TestInformers_TypeOfObjects_CanBeRead(t *testing.T) {
	if got := objectType(cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)).String(); got != "*v1.Pod" {
		t.Errorf("objectType() = %s", got)
	}
}

func TestInformers_InjectorCannotBeRehearsed_TheStartGoesOn(t *testing.T) {
	type key struct{}
	first := once()
	ctx, _, _ := setup(t)
	_, _ = first(ctx)
	for cause, inject := range map[string]injection.FilteredInformersInjector{
		"called twice": func(ctx context.Context) (context.Context, []controller.Informer) {
			ctx, informer := first(context.WithValue(ctx, key{}, "not returned"))
			return ctx, []controller.Informer{informer}
		},
		"it reads 2 factories for 1 informers": func(ctx context.Context) (context.Context, []controller.Informer) {
			_ = kubefactory.Get(ctx)
			return context.WithValue(ctx, key{}, "for later ones"), []controller.Informer{kubefactory.Get(ctx).Core().V1().Pods().Informer()}
		},
	} {
		p, logs := newProcess(t)
		next := p.rehearse(logging.WithLogger(ctx, p.logger()), ctx, inject)
		if returned := next.Value(key{}) != nil; returned == (cause == "called twice") {
			t.Error("the rehearsal does not continue with the context of the last injector that returned")
		}
		report := logs.FilterMessageSnippet("not hardened, because it cannot be rehearsed").All()
		if len(report) != 1 || report[0].ContextMap()["cause"] != cause {
			t.Errorf("%s: log: %v", cause, logs.All())
		}
	}
}

// hanging is an informer whose first list takes as long as a test wants.
type hanging struct {
	cache.SharedIndexInformer

	synced atomic.Bool
}

func (h *hanging) HasSynced() bool { return h.synced.Load() }

func (*hanging) Run(stop <-chan struct{}) { <-stop }

func TestInformers_FirstListTakesLong_IsNamedEveryTenSeconds(t *testing.T) {
	for _, off := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, logs := newProcess(t)
			p.off[probes] = off
			pods, secrets := &hanging{}, &hanging{}
			secrets.synced.Store(true)
			p.informers.all.Store(p.wrap("Pod", pods), nil)
			p.informers.all.Store(p.wrap("Secret", secrets), nil)
			stop, served := make(chan struct{}), false
			defer close(stop)
			go starting{pods, p, func() { served = true }}.Run(stop)
			time.Sleep(35 * time.Second) //nolint:forbidigo // the bubble's clock
			pods.synced.Store(true)
			time.Sleep(time.Minute) //nolint:forbidigo // the same
			synctest.Wait()
			want := 3
			if off {
				want = 0
			}
			lines := logs.FilterMessage("The first lists of these kinds have not completed yet").All()
			if len(lines) != want || !served {
				t.Fatalf("off %t, after 35 s and a minute in which the first lists have completed the log is %v, want %d lines", off, logs.All(), want)
			}
			for _, line := range lines {
				if got := fmt.Sprint(line.ContextMap()["kinds"]); got != "[Pod]" {
					t.Errorf("the log names %s, want [Pod]", got)
				}
			}
		})
	}
}

// A main registers informers after it has wrapped its constructors.
func TestInformers_RegisteredLate_IsWrapped(t *testing.T) {
	isolate(t)
	p, _ := newProcess(t, probes)
	late := &injector{Interface: injection.Default, process: p}
	var pods cache.SharedIndexInformer
	injection.Default.RegisterInformer(func(ctx context.Context) (context.Context, controller.Informer) {
		pods = kubefactory.Get(ctx).Core().V1().Pods().Informer()
		return ctx, pods
	})
	late.SetupInformers(filteredfactory.WithSelectors(t.Context(), "a=b"), &rest.Config{Host: "http://127.0.0.1:1"})
	if _, ok := pods.(*informer); !ok {
		t.Errorf("the informer is a %T", pods)
	}
}

func TestLimits_DefaultOnly_IsLifted(t *testing.T) {
	for name, tc := range map[string]struct {
		qps               float32
		burst             int
		flag, environment string
		want              float32
	}{
		"OneConstructor":    {qps: 5, burst: 10, want: -1},
		"ThreeConstructors": {qps: 15, burst: 30, want: -1},
		"TwoConstructors":   {qps: 10, burst: 20, want: 10}, // of three, so that the main has chosen it
		"OfTheMain":         {qps: 20, burst: 30, want: 20},
		"MoreThanDefault":   {qps: 50, burst: 100, want: 50},
		"OfAFlag":           {qps: 15, burst: 30, flag: "--kube-api-qps=15", want: 15},
		"OfAVariable":       {qps: 15, burst: 30, environment: "15", want: 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBE_API_QPS", tc.environment)
			original := flag.CommandLine
			t.Cleanup(func() { flag.CommandLine = original })
			flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError)
			new(environment.ClientConfig).InitFlags(flag.CommandLine)
			if err := flag.CommandLine.Parse(strings.Fields(tc.flag)); err != nil {
				t.Fatal(err)
			}
			cfg := &rest.Config{QPS: tc.qps, Burst: tc.burst}
			removeDefaultLimit(cfg, 3)
			if cfg.QPS != tc.want {
				t.Errorf("QPS = %v, want %v", cfg.QPS, tc.want)
			}
		})
	}
}
