/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	_ "knative.dev/pkg/system/testing"
)

// blocked is a reconciler of one key that does not return until proceed is closed.
type blocked struct {
	reconciler.LeaderAwareFuncs

	began   chan struct{}
	proceed chan struct{}
}

func (b *blocked) Reconcile(context.Context, string) error {
	b.began <- struct{}{}
	<-b.proceed
	return nil
}

func newBlocked(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	b := &blocked{began: make(chan struct{}, 1), proceed: make(chan struct{})}
	b.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, types.NamespacedName{Namespace: "ns", Name: "a"})
		return nil
	}
	return controller.NewContext(ctx, b, controller.ControllerOptions{WorkQueueName: "test", Logger: logging.FromContext(ctx), Concurrency: 1})
}

// If this test fails, knative.dev/pkg releases leases after its workers, and
// runtime/leader may no longer be needed.
func TestUpstream_Stop_ReleasesTheLeaseBeforeWorkersEnd(t *testing.T) {
	client := fake.NewClientset()
	ctx, cancel := context.WithCancel(t.Context())
	times := leaderelection.Config{Buckets: 1, LeaseDuration: 3 * time.Second, RenewDeadline: 500 * time.Millisecond, RetryPeriod: 10 * time.Millisecond}
	cc := times.GetComponentConfig("duck")
	cc.Identity, cc.LeaseName = "one", func(uint32) string { return "lease" }
	ctx = leaderelection.WithStandardLeaderElectorBuilder(ctx, client, cc)
	impl := newBlocked(ctx, nil)
	b := impl.Reconciler.(*blocked)
	ended := make(chan error, 1)
	go func() { ended <- impl.Run(ctx) }()
	<-b.began
	cancel()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		lease, err := client.CoordinationV1().Leases(system.Namespace()).Get(ctx, "lease", metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && holder(lease) == "", nil
	})
	if err != nil {
		t.Error("knative.dev/pkg does not release the lease while a worker is busy")
	}
	close(b.proceed)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
