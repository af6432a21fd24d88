/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	samplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
)

// Clients and listers therefore are fields of a reconciler, and its requests need their own deadline.
func TestQueue_ContextOfAReconciliation_IsNotThatOfTheConstructor(t *testing.T) {
	type valueKey struct{}
	var reconciliations []string
	w := leading(t, reconciling{func(ctx context.Context, _ *v1.AddressableService) reconciler.Event {
		reconciliations = append(reconciliations, "reconcile")
		if ctx.Done() != nil || ctx.Value(valueKey{}) != nil || ctx.Value(samplesclient.Key{}) != nil {
			t.Error("the context of a reconciliation comes from that of the controller now")
		}
		if controller.GetEventRecorder(ctx) == nil {
			t.Error("there is no recorder in the context")
		}
		return nil
	}}, object())
	w.ctx = context.WithValue(w.ctx, valueKey{}, "value")
	w.ctx = context.WithValue(w.ctx, samplesclient.Key{}, w.client)
	w.queued(t, &reconciliations)
}

func TestQueue_ConcurrencyOption_IsIgnored(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	impl := addressableservicereconciler.NewImpl(ctx, &pointer{}, samples.ClassMallard, func(*controller.Impl) controller.Options {
		return controller.Options{Concurrency: 17}
	})
	if impl.Concurrency != controller.DefaultThreadsPerController {
		t.Errorf("the controller has %d workers, want DefaultThreadsPerController, which is %d", impl.Concurrency, controller.DefaultThreadsPerController)
	}
}

// pointer is a reconciler as NewImpl wants it: it calls Elem of its type, which only a pointer has.
type pointer struct{ reconciling }

func TestQueue_ReconcilerThatIsNoPointer_Panics(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	defer func() {
		if recover() == nil {
			t.Error("NewImpl takes a reconciler that is no pointer now")
		}
	}()
	addressableservicereconciler.NewImpl(ctx, reconciling{returning(nil)}, samples.ClassMallard)
}

func TestQueue_Retries_BackOffExponentially(t *testing.T) {
	limiter := workqueue.DefaultTypedControllerRateLimiter[any]()
	if first, second := limiter.When("a"), limiter.When("a"); first != 5*time.Millisecond || second != 2*first {
		t.Errorf("the first retry is after %s, the second after %s", first, second)
	}
	for range 20 {
		limiter.When("a")
	}
	if last := limiter.When("a"); last != 1000*time.Second {
		t.Errorf("the last retries are %s apart", last)
	}
	limiter.Forget("a")
	if next := limiter.When("a"); next != 5*time.Millisecond {
		t.Errorf("after a reconciliation that was done the first retry is after %s", next)
	}
	// For all keys together: 24 were requested above.
	var last time.Duration
	for i := range 176 {
		last = limiter.When(i)
	}
	if last < 9*time.Second || last > 10*time.Second {
		t.Errorf("the last one of 200 that come at once waits for %s, want 10 a second after the first 100", last)
	}
}

func TestQueue_Object_IsReconciledByOneWorkerAtATime(t *testing.T) {
	const workers = 4
	var active, reconciliations, most atomic.Int32
	begun, release := make(chan struct{}, 10), make(chan struct{})
	w := leading(t, reconciling{func(context.Context, *v1.AddressableService) reconciler.Event {
		reconciliations.Add(1)
		most.Store(max(most.Load(), active.Add(1)))
		defer active.Add(-1)
		begun <- struct{}{}
		<-release
		return nil
	}}, object())
	ctx, cancel := context.WithCancel(w.ctx)
	impl := controller.NewContext(ctx, w.generated, controller.ControllerOptions{
		WorkQueueName: t.Name(), Logger: logging.FromContext(ctx), Concurrency: workers,
	})
	ended := make(chan error, 1)
	go func() { ended <- impl.Run(ctx) }()
	name := types.NamespacedName{Namespace: ns, Name: "a"}
	impl.EnqueueKey(name)
	<-begun
	for range 100 {
		impl.EnqueueKey(name)
	}
	close(release)
	<-begun
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// The lanes hand keys on by themselves, so that there may be one more in each place where they wait.
	if n := reconciliations.Load(); n < 2 || n > 5 || most.Load() != 1 {
		t.Errorf("enqueued once and then a hundred times, there are %d reconciliations, %d at a time", n, most.Load())
	}
}

const panicking = "MALLARD_TEST_PANICS"

// TestQueue_Panic_EndsTheProcess is run by itself, in a separate process.
func TestQueue_Panic_EndsTheProcess(t *testing.T) {
	if os.Getenv(panicking) != "" {
		var reconciliations []string
		leading(t, reconciling{func(context.Context, *v1.AddressableService) reconciler.Event { panic(errInduced) }}, object()).queued(t, &reconciliations)
		return
	}
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestQueue_Panic_EndsTheProcess$")
	self.Env = append(os.Environ(), panicking+"=1")
	out, err := self.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || !bytes.Contains(out, []byte("induced")) || bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("a process whose ReconcileKind panics ends with %v:\n%s", err, out)
	}
}

func TestDefaults_ResyncAndTrackerLease_AreThoseOfKnative(t *testing.T) {
	if resync, lease := controller.GetResyncPeriod(t.Context()), controller.GetTrackerLease(t.Context()); resync != 10*time.Hour || lease != 30*time.Hour {
		t.Errorf("informers resync each %s, and what is tracked is forgotten after %s", resync, lease)
	}
}

func TestTracker_References_EnqueueTheirObjects(t *testing.T) {
	var enqueued []types.NamespacedName
	tr := tracker.New(func(key types.NamespacedName) { enqueued = append(enqueued, key) }, time.Hour)
	ref := tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: ns, Name: "target"}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "target"}}
	gvk := corev1.SchemeGroupVersion.WithKind("Service")
	a := []types.NamespacedName{{Namespace: ns, Name: "a"}}
	enqueues := func(what string, want []types.NamespacedName, act func()) {
		t.Helper()
		enqueued = nil
		act()
		if !slices.Equal(enqueued, want) {
			t.Errorf("%s enqueues %v, want %v", what, enqueued, want)
		}
	}
	track := func() {
		if err := tr.TrackReference(ref, object()); err != nil {
			t.Fatal(err)
		}
	}
	enqueues("the first call of TrackReference", a, track)
	enqueues("the second call", nil, track)
	enqueues("a change of an object that does not say what it is, as those of informers do not", nil, func() { tr.OnChanged(service) })
	enqueues("the same with its kind", a, func() { controller.EnsureTypeMeta(tr.OnChanged, gvk)(service) })
	enqueues("a change at another version of the API", nil, func() {
		controller.EnsureTypeMeta(tr.OnChanged, schema.GroupVersionKind{Version: "v2", Kind: "Service"})(service)
	})
	bySelector := tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: ns, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "it"}}}
	if err := tr.TrackReference(bySelector, object(func(as *v1.AddressableService) { as.Name = "b" })); err != nil {
		t.Fatal(err)
	}
	another := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "another", Labels: map[string]string{"app": "it"}}}
	enqueues("a change of an object that a selector chooses", []types.NamespacedName{{Namespace: ns, Name: "b"}}, func() {
		controller.EnsureTypeMeta(tr.OnChanged, gvk)(another)
	})
	tr.OnDeletedObserver(object())
	enqueues("a change after the tracking object was deleted", nil, func() { controller.EnsureTypeMeta(tr.OnChanged, gvk)(service) })
}

// The reason why AddressableService finds the objects that refer to another one by an index.
func TestUpstreamTracker_ReferenceChanges_IsStillKept(t *testing.T) {
	upstream := tracker.New(func(types.NamespacedName) {}, time.Hour)
	for _, name := range []string{"first", "second"} {
		ref := tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: ns, Name: name}
		if err := upstream.TrackReference(ref, object()); err != nil {
			t.Fatal(err)
		}
	}
	first := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "first"}}
	if len(upstream.GetObservers(first)) == 0 {
		t.Error("the first reference is forgotten")
	}
}
