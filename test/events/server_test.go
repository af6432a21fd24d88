/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// deadline bounds each wait.
const deadline = time.Minute

// TestMain discards the log of client-go, whose errors the tests provoke.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// server answers the lists and watches of a reflector.
type server struct {
	// watches delivers each watch that the reflector opens.
	watches chan *stream

	mu      sync.Mutex
	version string
	items   []corev1.ConfigMap
	// listErrors and watchErrors answer the next requests.
	listErrors, watchErrors []error
	lists                   []metav1.ListOptions
}

// stream is a watch that the reflector has opened.
type stream struct {
	*watch.FakeWatcher

	options metav1.ListOptions
}

func newServer(version string, items ...corev1.ConfigMap) *server {
	return &server{watches: make(chan *stream, 100), version: version, items: items}
}

// set changes the objects.
func (s *server) set(version string, items ...corev1.ConfigMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.items = version, items
}

// listed returns the options of the lists so far.
func (s *server) listed() []metav1.ListOptions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]metav1.ListOptions(nil), s.lists...)
}

func pop(errors *[]error) error {
	if len(*errors) == 0 {
		return nil
	}
	first := (*errors)[0]
	*errors = (*errors)[1:]
	return first
}

// lw is the ListerWatcher of a reflector.
func (s *server) lw() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lists = append(s.lists, options)
			if err := pop(&s.listErrors); err != nil {
				return nil, err
			}
			return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: s.version}, Items: append([]corev1.ConfigMap(nil), s.items...)}, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			opened := &stream{FakeWatcher: watch.NewFakeWithChanSize(100, false), options: options}
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := pop(&s.watchErrors); err != nil {
				return nil, err
			}
			s.watches <- opened
			return opened, nil
		},
	}
}

// watched returns the next watch that the reflector opens.
func (s *server) watched(t *testing.T) *stream {
	t.Helper()
	return receive(t, s.watches, "a watch")
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(deadline):
		t.Fatalf("waited %v for %s", deadline, what)
		panic("unreachable")
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(time.Millisecond) { //nolint:forbidigo // it polls
		if time.Now().After(end) {
			t.Fatalf("waited %v until %s", deadline, what)
		}
	}
}

// informer returns an informer of the server without WatchList.
func (s *server) informer(t *testing.T, resync time.Duration) cache.SharedIndexInformer {
	t.Helper()
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, false)
	return cache.NewSharedIndexInformer(s.lw(), &corev1.ConfigMap{}, resync, cache.Indexers{})
}

// run runs an informer until the test ends.
func run(t *testing.T, informer cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// recorded are the calls of a handler, as text.
type recorded chan string

func newRecorded() recorded { return make(recorded, 100) }

// OnAdd implements cache.ResourceEventHandler.
func (r recorded) OnAdd(obj any, listed bool) {
	r <- fmt.Sprintf("add %s listed=%t", describe(obj), listed)
}

// OnUpdate implements cache.ResourceEventHandler.
func (r recorded) OnUpdate(old, obj any) {
	r <- fmt.Sprintf("update %s to %s", describe(old), describe(obj))
}

// OnDelete implements cache.ResourceEventHandler.
func (r recorded) OnDelete(obj any) { r <- "delete " + describe(obj) }

// expect compares the next calls.
func (r recorded) expect(t *testing.T, want ...string) {
	t.Helper()
	for _, call := range want {
		if got := receive(t, r, call); got != call {
			t.Errorf("got %q, want %q", got, call)
		}
	}
}

func describe(obj any) string {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone of " + describe(tombstone.Obj)
	}
	cm, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return fmt.Sprintf("%T", obj)
	}
	return fmt.Sprintf("%s@%s", cm.UID, cm.ResourceVersion)
}

// initialEventsEnd is the bookmark at the end of a streamed list.
func initialEventsEnd(version string) *corev1.ConfigMap {
	end := it("", version)
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return &end
}

// it is a ConfigMap, whose UID is its name unless another is given.
func it(name, version string, uid ...string) corev1.ConfigMap {
	cm := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: version}}
	if len(uid) > 0 {
		cm.UID = types.UID(uid[0])
	}
	return cm
}

func add(t *testing.T, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	t.Helper()
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		t.Fatal(err)
	}
	return registration
}
