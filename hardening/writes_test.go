/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
)

// at is the ConfigMap one at a resourceVersion.
func at(version string, change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: one.Name, UID: "1", ResourceVersion: version}}
	for _, c := range change {
		c(cm)
	}
	return cm
}

func TestWrites_CacheLacksTheLastWrite_IsBehind(t *testing.T) {
	deleting := func(cm *corev1.ConfigMap) { cm.DeletionTimestamp = &metav1.Time{Time: time.Now()} }
	for name, tc := range map[string]struct {
		method, answer string
		cached         *corev1.ConfigMap
		after          time.Duration
		want           bool
	}{
		"Older":            {method: http.MethodPut, cached: at("9"), want: true},
		"Arrived":          {method: http.MethodPut, cached: at("10")},
		"Newer":            {method: http.MethodPatch, cached: at("11")},
		"Deleted":          {method: http.MethodPut},
		"Recreated":        {method: http.MethodPut, cached: at("9", func(cm *corev1.ConfigMap) { cm.UID = "2" })},
		"NotComparable":    {method: http.MethodPut, cached: at("abc")},
		"NotCreatedYet":    {method: http.MethodPost, want: true},
		"Created":          {method: http.MethodPost, cached: at("10")},
		"NotSelected":      {method: http.MethodPost, after: patience},
		"TooLate":          {method: http.MethodPut, cached: at("9"), after: patience},
		"Read":             {method: http.MethodGet, cached: at("9")},
		"NotDeletedYet":    {method: http.MethodDelete, answer: `{"kind":"Status","details":{"name":"one","uid":"1"}}`, cached: at("9"), want: true},
		"Terminating":      {method: http.MethodDelete, answer: `{"kind":"Status","details":{"name":"one","uid":"1"}}`, cached: at("9", deleting)},
		"Gone":             {method: http.MethodDelete, answer: `{"kind":"Status","details":{"name":"one","uid":"1"}}`},
		"OtherKind":        {method: http.MethodPost, answer: `{"kind":"Secret","metadata":{"name":"one","namespace":"default","uid":"1","resourceVersion":"10"}}`},
		"Subresource":      {method: http.MethodPut, answer: `{"kind":"Scale","metadata":{"name":"one","namespace":"default","uid":"1","resourceVersion":"10"}}`, cached: at("9"), want: true},
		"NoObject":         {method: http.MethodPost, answer: `{"kind":"TokenReview","metadata":{}}`},
		"FinalizerRemoved": {method: http.MethodPatch, answer: `{"kind":"ConfigMap","metadata":{"name":"one","namespace":"default","uid":"1","resourceVersion":"9","deletionTimestamp":"2026-01-01T00:00:00Z"}}`, cached: at("9", deleting), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			answer := tc.answer
			if answer == "" {
				answer = `{"kind":"ConfigMap","metadata":{"name":"one","namespace":"default","uid":"1","resourceVersion":"10"}}`
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, answer)
			}))
			defer server.Close()
			p, _ := newProcess(t)
			store := cache.NewSharedIndexInformer(nil, &corev1.ConfigMap{}, 0, cache.Indexers{})
			if tc.cached != nil {
				if err := store.GetIndexer().Add(tc.cached); err != nil {
					t.Fatal(err)
				}
			}
			p.informers.all.Store(p.wrap("ConfigMap", store), nil)
			clock := clocktesting.NewFakeClock(time.Now())
			w := newWrites(&p.informers)
			w.clock = clock
			send(t, w, tc.method, server.URL, answer)
			clock.Step(tc.after)
			if got := w.behind(one); got != tc.want {
				t.Errorf("behind() = %t, want %t", got, tc.want)
			}
			if !tc.want && len(w.awaited) > 0 {
				t.Errorf("remembered: %v", w.awaited)
			}
		})
	}
}

// send sends a request of a reconciliation of one, whose response must still be readable.
func send(t *testing.T, w *writes, method, url, want string) {
	t.Helper()
	request, err := http.NewRequestWithContext(w.recording(context.Background(), one), method, url+"/api/v1/namespaces/default/configmaps/one", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&transport{http.DefaultTransport, &process{}}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), want) {
		t.Errorf("the response is %s, %v", body, err)
	}
}

// The clients of built-in kinds send and receive protobuf.
func TestWrites_BuiltInKind_IsBehindUntilTheCacheHasIt(t *testing.T) {
	deleted := &metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Name: one.Name, UID: "1"}}
	for name, tc := range map[string]struct {
		write  func(ctx context.Context, client typedcorev1.ConfigMapInterface) error
		kind   string
		answer runtime.Object
		cached []*corev1.ConfigMap
		want   bool
	}{
		"NotCreatedYet": {createOne, "ConfigMap", at("10"), nil, true},
		"Created":       {createOne, "ConfigMap", at("10"), []*corev1.ConfigMap{at("10")}, false},
		"NotDeletedYet": {deleteOne, "Status", deleted, []*corev1.ConfigMap{at("10")}, true},
		"Gone":          {deleteOne, "Status", deleted, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := newProcess(t)
			config := &rest.Config{Host: "http://a", Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
				var body bytes.Buffer
				tc.answer.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(tc.kind))
				err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(tc.answer, &body)
				contentType, _, _ := strings.Cut(request.Header.Get("Accept"), ",")
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(&body)}, err
			})}
			config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &transport{inner, p} })
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			store := cache.NewSharedIndexInformer(nil, &corev1.ConfigMap{}, 0, cache.Indexers{})
			for _, cm := range tc.cached {
				if err := store.GetIndexer().Add(cm); err != nil {
					t.Fatal(err)
				}
			}
			p.informers.all.Store(p.wrap("ConfigMap", store), nil)
			w := newWrites(&p.informers)
			if err := tc.write(w.recording(t.Context(), one), client.CoreV1().ConfigMaps(one.Namespace)); err != nil {
				t.Fatal(err)
			}
			if got := w.behind(one); got != tc.want {
				t.Errorf("behind() = %t, want %t", got, tc.want)
			}
		})
	}
}

func createOne(ctx context.Context, client typedcorev1.ConfigMapInterface) error {
	_, err := client.Create(ctx, at(""), metav1.CreateOptions{})
	return err
}

func deleteOne(ctx context.Context, client typedcorev1.ConfigMapInterface) error {
	return client.Delete(ctx, one.Name, metav1.DeleteOptions{})
}

func TestWrites_InformerSelectsOtherObjects_IsFoundOutOnce(t *testing.T) {
	p, _ := newProcess(t)
	p.informers.all.Store(p.wrap("ConfigMap", cache.NewSharedIndexInformer(nil, &corev1.ConfigMap{}, 0, cache.Indexers{})), nil)
	clock := clocktesting.NewFakeClock(time.Now())
	w := newWrites(&p.informers)
	w.clock = clock
	created := write{method: http.MethodPost}
	created.Kind, created.ObjectMeta = "ConfigMap", at("10").ObjectMeta
	w.record(one, created)
	if !w.behind(one) {
		t.Error("a created object that the cache lacks is not awaited")
	}
	clock.Step(patience)
	if w.behind(one) {
		t.Error("it is awaited for more than the patience")
	}
	w.record(one, created)
	if w.behind(one) {
		t.Error("it is awaited although the informer never had such an object")
	}
}

func TestPostponing_CacheLacksTheLastWrite_OffReconcilesAtOnce(t *testing.T) {
	for name, off := range map[string][]concern{"Hardened": nil, "Upstream": {postponing}} {
		t.Run(name, func(t *testing.T) {
			p, _ := newProcess(t, off...)
			p.informers.all.Store(p.wrap("ConfigMap", cache.NewSharedIndexInformer(nil, &corev1.ConfigMap{}, 0, cache.Indexers{})), nil)
			reconciled := false
			impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
				return newImpl(ctx, reconcileFunc(func(context.Context, string) error { reconciled = true; return nil }))
			})
			created := write{method: http.MethodPost}
			created.Kind, created.ObjectMeta = "ConfigMap", at("10").ObjectMeta
			impl.Reconciler.(*hardened).writes.record(one, created)
			err := impl.Reconciler.Reconcile(t.Context(), one.String())
			if requeued, _ := controller.IsRequeueKey(err); requeued != (off == nil) || reconciled == requeued {
				t.Errorf("before the cache has its last write, the object is reconciled: %t, %v", reconciled, err)
			}
		})
	}
}
