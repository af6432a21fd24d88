/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/webhook"
)

// admits, converts and stateless are the optional interfaces of reconcilers.
type (
	aware     struct{ reconciler.LeaderAwareFuncs }
	admits    struct{}
	converts  struct{}
	stateless struct{}
)

func (*admits) Path() string { return "/admits" }
func (*admits) Admit(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	panic("in Admit")
}
func (*converts) Path() string { return "/converts" }
func (*converts) Convert(context.Context, *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	panic("in Convert")
}
func (stateless) ThisTypeDoesNotDependOnInformerState() {}

func TestConstructor_OptionalInterfaces_AreKept(t *testing.T) {
	interfaces := []reflect.Type{
		reflect.TypeFor[reconciler.LeaderAware](), reflect.TypeFor[webhook.AdmissionController](),
		reflect.TypeFor[webhook.StatelessAdmissionController](), reflect.TypeFor[webhook.ConversionController](),
	}
	none := reconcileFunc(func(context.Context, string) error { return nil })
	for _, inner := range []controller.Reconciler{
		none,
		struct {
			reconcileFunc
			*aware
		}{none, &aware{}},
		struct {
			reconcileFunc
			*aware
			*admits
		}{none, &aware{}, &admits{}},
		struct {
			reconcileFunc
			*aware
			*admits
			stateless
		}{none, &aware{}, &admits{}, stateless{}},
		struct {
			reconcileFunc
			*aware
			*converts
		}{none, &aware{}, &converts{}},
		struct {
			reconcileFunc
			*admits
		}{none, &admits{}},
		struct {
			reconcileFunc
			*admits
			stateless
		}{none, &admits{}, stateless{}},
		struct {
			reconcileFunc
			*converts
		}{none, &converts{}},
	} {
		p, _ := newProcess(t)
		impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl { return newImpl(ctx, inner) })
		for _, i := range interfaces {
			if got, want := reflect.TypeOf(impl.Reconciler).Implements(i), reflect.TypeOf(inner).Implements(i); got != want {
				t.Errorf("%T: hardened implements %s: %t, want %t", inner, i, got, want)
			}
		}
	}
}

func TestReconcile_Panic_IsAnErrorOfThatObject(t *testing.T) {
	p, logs := newProcess(t)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, reconcileFunc(func(_ context.Context, key string) error {
			if key == "default/bad" {
				panic("boom")
			}
			return nil
		}))
	})
	err := impl.Reconciler.Reconcile(t.Context(), "default/bad")
	if requeued, _ := controller.IsRequeueKey(err); !requeued || !strings.Contains(err.Error(), "panic while reconciling default/bad: boom") {
		t.Errorf("error: %v", err)
	}
	if err := impl.Reconciler.Reconcile(t.Context(), "default/good"); err != nil {
		t.Errorf("another object: %v", err)
	}
	if logs.Len() > 0 && !strings.Contains(logs.All()[0].Message, "panicked") {
		t.Errorf("log: %v", logs.All())
	}
}

func TestReconcile_PanicsOff_EndsTheProcess(t *testing.T) {
	p, _ := newProcess(t, panics)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { panic("boom") }))
	})
	defer func() {
		if recover() == nil {
			t.Error("the panic was contained")
		}
	}()
	_ = impl.Reconciler.Reconcile(t.Context(), "default/bad")
}

// expectPanic sends a request to a webhook that panics, without and with the hardening.
func expectPanic(t *testing.T, inner controller.Reconciler, path, want string) {
	t.Helper()
	p, _ := newProcess(t)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl { return newImpl(ctx, inner) })
	for _, r := range []controller.Reconciler{inner, impl.Reconciler} {
		handler, err := webhook.New(webhook.WithOptions(t.Context(), webhook.Options{}), []any{r})
		if err != nil {
			t.Fatal(err)
		}
		handler.InformersHaveSynced()
		server := httptest.NewServer(handler)
		response, err := http.Post(server.URL+path, "application/json", strings.NewReader(`{"request":{"uid":"1","desiredAPIVersion":"example.com/v1"}}`)) //nolint:noctx // ends with the test
		var answer []byte
		if err == nil {
			answer, _ = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		server.Close()
		switch hardened := r == impl.Reconciler; {
		case hardened && !strings.Contains(string(answer), want):
			t.Errorf("the answer is %s, %v, want %s", answer, err, want)
		case !hardened && !errors.Is(err, io.EOF):
			t.Errorf("package webhook contains the panic now: it answers %s, %v", answer, err)
		}
	}
}

func TestAdmission_Panic_RejectsTheRequest(t *testing.T) {
	expectPanic(t, &struct {
		reconcileFunc
		aware
		admits
	}{}, "/admits", `"allowed":false,"status":{"metadata":{},"status":"Failure","message":"Internal error occurred: panic in the webhook /admits"`)
}

func TestConversion_Panic_FailsTheRequest(t *testing.T) {
	expectPanic(t, &struct {
		reconcileFunc
		aware
		converts
	}{}, "/converts", `"uid":"1","convertedObjects":null,"result":{"metadata":{},"status":"Failure","message":"panic in the webhook /converts"`)
}

func TestLeading_LeaseIsLost_CancelsTheReconciliationsOfItsKeysOnly(t *testing.T) {
	p, _ := newProcess(t)
	inside, results := make(chan struct{}), map[string]chan error{"default/ours": make(chan error, 1), "other/theirs": make(chan error, 1)}
	release := make(chan struct{})
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, struct {
			reconcileFunc
			*aware
		}{func(ctx context.Context, key string) error {
			inside <- struct{}{}
			select {
			case <-ctx.Done():
				results[key] <- context.Cause(ctx)
			case <-release:
				results[key] <- nil
			}
			return nil
		}, &aware{}})
	})
	for key := range results {
		go func() { _ = impl.Reconciler.Reconcile(context.Background(), key) }()
		<-inside
	}
	impl.Reconciler.(reconciler.LeaderAware).Demote(bucketOf("default"))
	if err := <-results["default/ours"]; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "lost leadership of bucket") {
		t.Errorf("the reconciliation of a lost key ended with %v", err)
	}
	close(release)
	if err := <-results["other/theirs"]; err != nil {
		t.Errorf("the reconciliation of a key that is led ended with %v", err)
	}
}

func TestLeading_ReconciliationHasEnded_ItsContextRemains(t *testing.T) {
	p, _ := newProcess(t)
	var kept context.Context
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, reconcileFunc(func(ctx context.Context, _ string) error { kept = ctx; return nil })) //nolint:fatcontext // as a cache keeps it
	})
	if err := errors.Join(impl.Reconciler.Reconcile(t.Context(), "default/a"), kept.Err()); err != nil {
		t.Errorf("the context that a cache of duck informers would keep has ended: %v", err)
	}
}

// bucketOf is a bucket with the keys of one namespace.
type bucketOf string

func (bucketOf) Name() string                        { return "bucket" }
func (b bucketOf) Has(key types.NamespacedName) bool { return key.Namespace == string(b) }

func TestLeading_StoppingOff_LeavesReconciliationsAsUpstreamDoes(t *testing.T) {
	p, _ := newProcess(t, stopping)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		var impl *controller.Impl
		impl = newImpl(ctx, struct {
			reconcileFunc
			*aware
		}{func(ctx context.Context, _ string) error {
			impl.Reconciler.(reconciler.LeaderAware).Demote(bucketOf("default"))
			return ctx.Err()
		}, &aware{}})
		return impl
	})
	if err := impl.Reconciler.Reconcile(t.Context(), "default/a"); err != nil {
		t.Errorf("the reconciliation of a lost key ended with %v", err)
	}
}

func TestRegistration_TwoWebhookConfigurations_AreWrittenApart(t *testing.T) {
	for _, tc := range []struct {
		off  []concern
		want time.Duration
	}{{nil, apart}, {[]concern{registration}, 0}} {
		p, _ := newProcess(t, tc.off...)
		var times chan time.Time
		impls := [2]*controller.Impl{}
		for i := range impls {
			impls[i] = construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
				return newImpl(ctx, struct {
					reconcileFunc
					*aware
					*admits
				}{func(context.Context, string) error { times <- time.Now(); return nil }, &aware{}, &admits{}})
			})
		}
		synctest.Test(t, func(t *testing.T) {
			times = make(chan time.Time, 2)
			var group sync.WaitGroup
			for _, impl := range impls {
				group.Go(func() {
					if err := impl.Reconciler.Reconcile(t.Context(), "name"); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if first, second := <-times, <-times; second.Sub(first) != tc.want {
				t.Errorf("without %v, the second one is written %v after the first, want %v", tc.off, second.Sub(first), tc.want)
			}
		})
	}
}
