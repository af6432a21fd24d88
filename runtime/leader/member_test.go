/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe"
)

type idle struct{ reconciler.LeaderAwareFuncs }

func (*idle) Reconcile(context.Context, string) error { return nil }

// Otherwise the keys of another share, which this process still leads, would wait for as long as nothing else is enqueued.
func TestMember_GateIsShut_FeedsTheQueue(t *testing.T) {
	const keys = 50
	inner := &idle{}
	inner.PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		for i := range keys {
			enqueue(b, types.NamespacedName{Namespace: "ns", Name: strconv.Itoa(i)})
		}
		return nil
	}
	ctx, _ := injection.Fake.SetupInformers(t.Context(), &rest.Config{})
	impl := controller.NewContext(ctx, inner, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar()})
	if err := observe.Complete(ctx, impl); err != nil {
		t.Fatal(err)
	}
	l := New(Options{Times: production(1)})
	if err := l.Attach(impl); err != nil {
		t.Fatal(err)
	}
	defer impl.WorkQueue().ShutDown()
	l.shareOf(types.NamespacedName{}).gate.close()
	promoted := impl.Reconciler.(*member).inner
	if err := promoted.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		t.Fatal(err)
	}
	for range keys {
		key, _ := impl.WorkQueue().Get()
		if err := impl.Reconciler.Reconcile(t.Context(), key.(types.NamespacedName).String()); !controller.IsSkipKey(err) {
			t.Errorf("a key is reconciled, with result %v, although the gate is shut", err)
		}
		impl.WorkQueue().Done(key)
	}
}

// drainer is the reconciler of an observer that runs on the leader only.
type drainer struct{ idle }

func (*drainer) Drains() {}

func TestAttach_ReconcilerDrains_BeginsKeysAtTheEndOfTheProcess(t *testing.T) {
	l := New(Options{Times: production(1), Reached: func() {}})
	l.ending.Store(true)
	for drains, inner := range map[bool]controller.Reconciler{true: &drainer{}, false: &idle{}} {
		impl := controller.NewContext(t.Context(), inner, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar()})
		defer impl.WorkQueue().ShutDown()
		if err := l.Attach(impl); err != nil {
			t.Fatal(err)
		}
		if err := impl.Reconciler.Reconcile(t.Context(), "ns/it"); controller.IsSkipKey(err) == drains {
			t.Errorf("%T: got %v", inner, err)
		}
	}
}

type unaware struct{}

// anywhere is the reconciler of an observer that runs on every replica.
type anywhere struct{ unaware }

func (anywhere) OnEveryReplica() {}

func TestAttach_ReconcilerOnEveryReplica_StaysAsItIs(t *testing.T) {
	impl := controller.NewContext(t.Context(), anywhere{}, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar()})
	if err := New(Options{Times: production(1), Reached: func() {}}).Attach(impl); err != nil {
		t.Fatal(err)
	}
	if _, ok := impl.Reconciler.(anywhere); !ok {
		t.Errorf("its reconciler becomes a %T", impl.Reconciler)
	}
}

func (unaware) Reconcile(context.Context, string) error { return nil }

func TestAttach_ReconcilerIsNotLeaderAware_IsAnError(t *testing.T) {
	impl := controller.NewContext(t.Context(), unaware{}, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar()})
	defer impl.WorkQueue().ShutDown()
	if err := New(Options{Times: production(1)}).Attach(impl); err == nil || !strings.Contains(err.Error(), "unaware is not leader-aware") {
		t.Errorf("got error %v, want one that names the type", err)
	}
}
