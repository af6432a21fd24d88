/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"knative.dev/pkg/reconciler"
)

// releaseTimeout bounds how long a process that ends tries to give its lease back.
const releaseTimeout = 5 * time.Second

// term stands for election for one lease, again and again.
type term struct {
	leader  *Leader
	bucket  reconciler.Bucket
	lock    resourcelock.Interface
	elector *leaderelection.LeaderElector
}

func (l *Leader) newTerm(bucket reconciler.Bucket) (*term, error) {
	client := l.options.Client
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, l.options.Namespace, bucket.Name(), client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: l.options.Identity})
	if err != nil {
		return nil, fmt.Errorf("making the lock of lease %s: %w", bucket.Name(), err)
	}
	t := &term{leader: l, bucket: bucket, lock: lock}
	t.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: l.options.Times.LeaseDuration,
		RenewDeadline: l.options.Times.RenewDeadline,
		RetryPeriod:   l.options.Times.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { l.started(ctx, bucket) },
			// What has to happen then is done where run comes to know of it.
			OnStoppedLeading: func() {},
		},
		// Given back by release: client-go would try that even when the lease could not
		// be renewed, and say only afterwards that it is lost.
		ReleaseOnCancel: false,
		Name:            bucket.Name(),
	})
	if err != nil {
		return nil, fmt.Errorf("standing for election for lease %s: %w", bucket.Name(), err)
	}
	return t, nil
}

// run returns when ctx has ended and the lease has been given back.
func (t *term) run(ctx context.Context) {
	t.leader.logger.Load().Infow("Standing for election", "lease", t.bucket.Name(), "identity", t.leader.options.Identity)
	for {
		t.elector.Run(ctx)
		if ctx.Err() != nil {
			break
		}
		t.leader.stopped(ctx, t.bucket)
	}
	if !t.elector.IsLeader() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := t.release(ctx); err != nil {
		t.leader.logger.Load().Warnw("The lease was not given back, so a standby waits until it has run out", "lease", t.bucket.Name(), "error", err)
	}
}

// release lets a standby take the lease at once. It does nothing to the lease of another.
func (t *term) release(ctx context.Context) error {
	record, _, err := t.lock.Get(ctx)
	if err != nil {
		return fmt.Errorf("reading lease %s: %w", t.lock.Describe(), err)
	}
	if record.HolderIdentity != t.lock.Identity() {
		return nil
	}
	now := metav1.Now()
	free := resourcelock.LeaderElectionRecord{
		LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now,
	}
	if err := t.lock.Update(ctx, free); err != nil {
		return fmt.Errorf("writing lease %s: %w", t.lock.Describe(), err)
	}
	return nil
}
