/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Objects have readyDeadline to become Ready, and readyEach for each of them.
const (
	readyDeadline = 2 * time.Minute
	readyEach     = 200 * time.Millisecond
)

// kind is a kind of which the tests create objects that differ in their names only.
type kind struct {
	resource schema.GroupVersionResource
	// prefix begins the names of the objects, "it-" if it is empty. Their numbers follow.
	prefix string
	// class is that of the objects, the default one if it is empty.
	class string
	// spec refers to the Service of createTarget.
	spec map[string]any
	// defaulted is set for a kind whose new objects get a finalizer.
	defaulted bool
}

// addressableServices are the operator's own kind.
var addressableServices = kind{
	resource: v1.SchemeGroupVersion.WithResource("addressableservices"),
	spec:     map[string]any{"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"}}, defaulted: true,
}

func createTarget(t testing.TB, env *harness.Env, ns string) {
	t.Helper()
	target := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "target"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
	if _, err := env.Kube.CoreV1().Services(ns).Create(t.Context(), target, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the target: %v", err)
	}
}

func (k kind) namePrefix() string { return cmp.Or(k.prefix, "it-") }

// object returns the n-th object of a batch.
func (k kind) object(n int) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": k.spec}}
	object.SetGroupVersionKind(k.resource.GroupVersion().WithKind("AddressableService"))
	object.SetName(k.namePrefix() + strconv.Itoa(n))
	if k.class != "" {
		object.SetAnnotations(map[string]string{samples.ClassAnnotationKey: k.class})
	}
	return object
}

// batch holds the times of objects that were created together.
type batch struct {
	// creating is the time that the creation of all objects took.
	creating time.Duration
	// sent and ready hold when each object was sent to the API server, and when a watch has delivered it with the condition Ready.
	sent, ready []time.Time
	// ended is closed when all objects are Ready or they cannot be watched, with err in that case.
	ended chan struct{}
	err   error
}

// newBatch returns a batch of objects that are not created yet.
func newBatch(count int) *batch {
	return &batch{sent: make([]time.Time, count), ready: make([]time.Time, count), ended: make(chan struct{})}
}

// inform follows objects that are created later with an informer, which watches again when the API server ends a watch.
func (k kind) inform(t testing.TB, env *harness.Env, ns string, count int) *batch {
	t.Helper()
	b := newBatch(count)
	left := count
	note := func(o any) {
		if object, ok := o.(*unstructured.Unstructured); ok && b.note(object, k.namePrefix()) {
			if left--; left == 0 {
				close(b.ended)
			}
		}
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(env.Dynamic, k.resource, ns, 0, nil, nil).Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, o any) { note(o) }})
	if err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	return b
}

// create creates objects as fast as a number of writers can: each sends one request after the other, without a rate limit.
func (k kind) create(t testing.TB, env *harness.Env, ns string, count, writers int) *batch {
	t.Helper()
	client := env.Dynamic.Resource(k.resource).Namespace(ns)
	// Repeated lists would distort the measurement.
	list, err := client.List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatalf("listing the objects: %v", err)
	}
	// The API server ends a watch whose client does not keep up with the events, for example on a busy machine.
	events, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: client.Watch})
	if err != nil {
		t.Fatalf("watching the objects: %v", err)
	}
	t.Cleanup(events.Stop)
	b := newBatch(count)
	go b.follow(events, k.namePrefix())
	b.creating = each(t, count, writers, func(n int) error {
		b.sent[n] = time.Now()
		_, err := client.Create(t.Context(), k.object(n), metav1.CreateOptions{})
		return err
	})
	return b
}

// each calls a function for each number below count, in a number of goroutines, and returns how long that took.
func each(t testing.TB, count, writers int, do func(n int) error) time.Duration {
	t.Helper()
	start := time.Now()
	var group errgroup.Group
	group.SetLimit(writers)
	for n := range count {
		group.Go(func() error { return do(n) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("writing %d objects: %v", count, err)
	}
	return time.Since(start)
}

// follow notes when each object becomes Ready.
func (b *batch) follow(events watch.Interface, prefix string) {
	defer close(b.ended)
	for left := len(b.ready); left > 0; {
		event := <-events.ResultChan()
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			b.err = fmt.Errorf("the watch ended before %d of %d objects were Ready: %v", left, len(b.ready), event.Object)
			return
		}
		if b.note(object, prefix) {
			left--
		}
	}
}

// note notes when an object is delivered as Ready, and reports whether that is the first time. Other objects have names without the prefix.
func (b *batch) note(object *unstructured.Unstructured, prefix string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(object.GetName(), prefix))
	if err != nil || !b.ready[n].IsZero() || harness.Ready(object) != nil {
		return false
	}
	b.ready[n] = time.Now()
	return true
}

// await returns as soon as every object is Ready, and how long that took since the first one was sent.
func (b *batch) await(t testing.TB) time.Duration {
	t.Helper()
	within := readyDeadline + time.Duration(len(b.ready))*readyEach
	select {
	case <-b.ended:
	case <-time.After(within):
		t.Fatalf("not all of %d objects are Ready after %v", len(b.ready), within)
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return slices.MaxFunc(b.ready, time.Time.Compare).Sub(slices.MinFunc(b.sent, time.Time.Compare))
}

// latency is the time from sending an object until it is Ready that a share of the objects did not exceed.
func (b *batch) latency(share float64) time.Duration {
	latencies := make([]time.Duration, len(b.ready))
	for n := range b.ready {
		latencies[n] = b.ready[n].Sub(b.sent[n])
	}
	slices.Sort(latencies)
	return latencies[int(share*float64(len(latencies)-1))]
}
