/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmeta"
)

// recorder is an event handler that records its events.
type recorder struct {
	mu   sync.Mutex
	seen []string
	// changes counts the calls of the callback.
	changes int
}

func (r *recorder) record(verb string, obj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		r.seen = append(r.seen, verb+" "+err.Error())
		return
	}
	r.seen = append(r.seen, verb+" "+accessor.GetName())
}

func (r *recorder) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.record("add", obj) },
		UpdateFunc: func(_, obj any) { r.record("update", obj) },
		DeleteFunc: func(obj any) { r.record("delete", obj) },
	}
}

func (r *recorder) change(sets.Set[schema.GroupVersion]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
}

func (r *recorder) changed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

func (r *recorder) events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.seen...)
}

// newFactory is a Factory that reads from the server until the test ends.
func newFactory(t *testing.T, server *apiServer) (*Factory, *recorder) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events := &recorder{}
	t.Cleanup(func() {
		cancel()
		eventually(t, "the informers end with their context", func() bool { return reflectors() == 0 })
	})
	factory := New(ctx, server, &duckv1.AddressableType{}, sets.New("kept"), events.change)
	if _, err := factory.AddEventHandlerWithOptions(events.handler(), cache.HandlerOptions{}); err != nil {
		t.Fatal(err)
	}
	factory.retry.Duration, factory.retry.Cap = 20*time.Millisecond, 100*time.Millisecond
	return factory, events
}

// reflectors returns the number of goroutines in this process that list and watch.
func reflectors() int { return running("(*Reflector).RunWithContext(") }

// syncWaiters returns the number of goroutines in this process that wait for a first list.
func syncWaiters() int { return running("(*entry).start.func") }

func running(function string) int {
	stacks := make([]byte, 1<<22)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), function)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), 2*time.Millisecond, wait.ForeverTestTimeout, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
