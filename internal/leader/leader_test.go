/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	_ "knative.dev/pkg/system/testing"
)

var key = types.NamespacedName{Namespace: "ns", Name: "a"}

// worker is a reconciler of one key that stays in its work until it is told.
type worker struct {
	reconciler.LeaderAwareFuncs

	began   chan struct{}
	proceed chan struct{}
}

func newWorker() *worker {
	w := &worker{began: make(chan struct{}, 10), proceed: make(chan struct{})}
	w.PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(b, key)
		return nil
	}
	return w
}

func (w *worker) Reconcile(_ context.Context, name string) error {
	if !w.IsLeaderFor(key) {
		return controller.NewSkipKey(name)
	}
	w.began <- struct{}{}
	<-w.proceed
	return nil
}

func (w *worker) constructor(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return controller.NewContext(ctx, w, controller.ControllerOptions{WorkQueueName: "test", Logger: logging.FromContext(ctx), Concurrency: 1})
}

// times are short, since nothing else waits for them.
func times() *leaderelection.Config {
	return &leaderelection.Config{Buckets: 1, LeaseDuration: 3 * time.Second, RenewDeadline: 500 * time.Millisecond, RetryPeriod: 10 * time.Millisecond}
}

func newLeader(client *fake.Clientset, identity string) *Leader {
	return New(Options{Client: client, Namespace: "ns", Component: "Duck", Identity: identity, Times: times()})
}

// lead runs a worker as a process would, until stop is called; that returns when the process would end.
func lead(t *testing.T, l *Leader, w *worker) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	impl := l.Lead(w.constructor)(ctx, nil)
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = impl.Run(ctx) })
	tasks.Go(func() {
		if err := l.Run(ctx); err != nil {
			t.Errorf("running for the lease: %v", err)
		}
	})
	return func() {
		cancel()
		tasks.Wait()
	}
}

func holder(t *testing.T, client *fake.Clientset, namespace, name string) string {
	t.Helper()
	lease, err := client.CoordinationV1().Leases(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestTheLeaseIsGivenBackAfterTheLastWorkerEnded(t *testing.T) {
	client, w := fake.NewClientset(), newWorker()
	stop := lead(t, newLeader(client, "one"), w)
	<-w.began
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	eventually(t, "the reconciler is demoted", func() bool { return !w.IsLeaderFor(key) })
	if got := holder(t, client, "ns", "duck.00-of-01"); got != "one" {
		t.Errorf("the lease is held by %q while a worker of \"one\" is not done", got)
	}
	close(w.proceed)
	<-ended
	if got := holder(t, client, "ns", "duck.00-of-01"); got != "" {
		t.Errorf("the lease is held by %q after the end", got)
	}
}

// The day that this fails knative.dev/pkg gives leases back after its workers, and
// internal/leader may be no longer needed.
func TestKnativeGivesTheLeaseBackBeforeItsWorkersEnd(t *testing.T) {
	client, w := fake.NewClientset(), newWorker()
	ctx, cancel := context.WithCancel(t.Context())
	cc := times().GetComponentConfig("duck")
	cc.Identity, cc.LeaseName = "one", func(uint32) string { return "lease" }
	ctx = leaderelection.WithStandardLeaderElectorBuilder(ctx, client, cc)
	ended := make(chan error, 1)
	go func() { ended <- w.constructor(ctx, nil).Run(ctx) }()
	<-w.began
	cancel()
	eventually(t, "knative gives the lease back while a worker is not done", func() bool {
		return holder(t, client, system.Namespace(), "lease") == ""
	})
	close(w.proceed)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARestartedProcessTakesItsOwnLeaseAtOnce(t *testing.T) {
	client, first := fake.NewClientset(), newWorker()
	crashed := newLeader(client, "one")
	stopFirst := lead(t, crashed, first)
	<-first.began
	// As after kill -9 the lease stays, and nobody renews it; the fake has one store for both.
	ghost, err := client.CoordinationV1().Leases("ns").Get(t.Context(), "duck.00-of-01", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	close(first.proceed)
	stopFirst()
	if _, err := client.CoordinationV1().Leases("ns").Update(t.Context(), ghost, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	other, same := newWorker(), newWorker()
	close(other.proceed)
	close(same.proceed)
	stopOther := lead(t, newLeader(client, "two"), other)
	defer stopOther()
	stopSame := lead(t, newLeader(client, "one"), same)
	defer stopSame()
	select {
	case <-same.began:
	case <-other.began:
		t.Error("another process leads before the lease has run out")
	}
}

func TestALostLeaseEndsTheProcessWhenAWorkerDoesNot(t *testing.T) {
	client, w := fake.NewClientset(), newWorker()
	l := newLeader(client, "one")
	exits := make(chan error, 1)
	l.exit = func(_ string, err error) { exits <- err }
	stop := lead(t, l, w)
	<-w.began
	refuse(client, "update")
	eventually(t, "the reconciler is demoted", func() bool { return !w.IsLeaderFor(key) })
	if err := <-exits; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the process ends for %v", err)
	}
	close(w.proceed)
	stop()
}

func TestALostLeaseIsStoodForAgainWhenAllWorkersEnded(t *testing.T) {
	client, w := fake.NewClientset(), newWorker()
	close(w.proceed)
	l := newLeader(client, "one")
	l.exit = func(message string, err error) { t.Errorf("the process ends: %s: %v", message, err) }
	stop := lead(t, l, w)
	defer stop()
	<-w.began
	allow := refuse(client, "update")
	eventually(t, "the reconciler is demoted", func() bool { return !w.IsLeaderFor(key) })
	allow()
	<-w.began
}

// refuse has the API server fail a verb on leases until allow is called.
func refuse(client *fake.Clientset, verb string) (allow func()) {
	var mu sync.Mutex
	refused := true
	client.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		return refused, nil, apierrors.NewServiceUnavailable("refused by the test")
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		refused = false
	}
}
