/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"knative.dev/pkg/reconciler"
)

// releaseTimeout bounds the time for which a process tries to release a lease.
const releaseTimeout = 5 * time.Second

var errLost = errors.New("the lease of this share of the keys could not be renewed")

// share is one of the parts into which the keys are divided, each with a lease.
type share struct {
	leader *Leader
	bucket reconciler.Bucket
	gate   gate
	// lease is as this process last read or wrote it. Only the election uses it while the process is a standby, and only renew and then
	// serve while it leads.
	lease *coordinationv1.Lease
}

// write stores a holder in the lease, unless the lease has changed since it was read. It returns until when the holder may lead.
func (s *share) write(ctx context.Context, identity string) (until time.Time, err error) {
	times := s.leader.options.Times
	lease, now, seconds := s.lease.DeepCopy(), metav1.NowMicro(), int32(times.LeaseDuration/time.Second) //nolint:gosec // an int32 holds 68 years
	if holder(lease) != identity {
		lease.Spec.AcquireTime = &now
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &identity, &now, &seconds
	delete(lease.Annotations, wantedBy)
	sent := time.Now()
	lease, err = s.leader.store(ctx, lease)
	if err == nil {
		s.lease = lease
	}
	return sent.Add(times.LeaseDuration - room(times)), err
}

// lead promotes the reconcilers, and serves the share until the process is to give it up.
func (s *share) lead(until time.Time) {
	l := s.leader
	l.options.Logger.Infow("Leading", "lease", s.bucket.Name(), "identity", l.options.Identity)
	s.gate.open(until)
	for _, m := range l.members {
		if err := m.inner.Promote(s.bucket, m.enqueue); err != nil {
			l.exit("A reconciler could not take over", err)
		}
	}
	l.serving.Go(s.serve)
}

// serve leads the share until it loses the lease, another process requests it, or this process has to release it. When it returns, no key of
// the share is being reconciled.
func (s *share) serve() {
	l := s.leader
	stopping := l.drained
	renewing, stop := context.WithCancel(context.Background())
	taken, wanted := make(chan struct{}), make(chan string, 1)
	var renewals sync.WaitGroup
	renewals.Go(func() {
		err := wait.PollUntilContextCancel(renewing, l.options.Times.RetryPeriod, false, func(ctx context.Context) (bool, error) {
			return s.renew(ctx, wanted), nil
		})
		if err == nil {
			close(taken)
		}
	})
	// Reconcilers see the keys again, which they no longer lead.
	defer s.gate.open(time.Time{})
	defer renewals.Wait()
	defer stop()
	var successor string
	var idle <-chan struct{}
	var hung <-chan time.Time
	for {
		select {
		case successor = <-wanted:
			l.options.Logger.Infow("Handing a share over", "lease", s.bucket.Name(), "to", successor)
			idle = s.shut()
		case <-stopping:
			stopping, successor = nil, ""
			idle, hung = s.shut(), time.After(l.options.Times.RenewDeadline)
		case <-idle:
			stop()
			renewals.Wait()
			s.release(successor)
			return
		case <-hung:
			l.exit("The process exits without releasing its lease, because a reconciliation does not end", context.DeadlineExceeded)
			return
		case <-taken:
			s.lost(time.Now())
			return
		case <-time.After(time.Until(s.gate.until())):
			if until := s.gate.until(); !time.Now().Before(until) {
				stop()
				s.lost(until)
				return
			}
		}
	}
}

// shut begins no key any more, and returns what is closed once none is being reconciled.
func (s *share) shut() <-chan struct{} {
	idle := s.gate.close()
	for _, m := range s.leader.members {
		m.inner.Demote(s.bucket)
	}
	return idle
}

// lost ends all reconciliations, or else the process, before another process may lead. The lease was given up at that time.
func (s *share) lost(at time.Time) {
	idle := s.shut()
	l, quarter := s.leader, room(s.leader.options.Times)/4
	l.options.Logger.Errorw("Lost the lease: it could not be renewed in time, or another process has taken it",
		"lease", s.bucket.Name(), "identity", l.options.Identity)
	select {
	case <-idle:
		return
	case <-time.After(time.Until(at.Add(quarter))):
		s.gate.cancel(errLost)
	}
	select {
	case <-idle:
	case <-time.After(time.Until(at.Add(2 * quarter))):
		l.exit("The process exits, because a reconciliation does not end and another process may lead soon", errLost)
	}
}

// renew renews the lease, and returns true if another process holds it. It sends the identity of the process that should lead the share.
func (s *share) renew(ctx context.Context, wanted chan<- string) (taken bool) {
	// A request that is under way when the share is left is awaited, for the lease is given back after it.
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), s.gate.until())
	defer cancel()
	until, err := s.write(ctx, s.leader.options.Identity)
	if err == nil {
		s.gate.extend(until)
	}
	if !changed(err) {
		return false
	}
	taken = s.reread(ctx)
	if successor := s.lease.Annotations[wantedBy]; !taken && successor != "" && s.leader.handOver(s) {
		wanted <- successor
	}
	return taken
}

// changed reports whether a write failed because the lease is not as this process knows it.
func changed(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// reread reads the lease that another process changed, and returns whether that process holds it.
func (s *share) reread(ctx context.Context) (taken bool) {
	leases, err := s.leader.list(ctx)
	if err != nil {
		return false
	}
	s.lease = leases[s.bucket.Name()]
	// A lease that was deleted is created again.
	return s.lease.ResourceVersion != "" && holder(s.lease) != s.leader.options.Identity
}

// release lets another process lead the share at once.
func (s *share) release(successor string) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	_, err := s.write(ctx, successor)
	if changed(err) {
		if s.reread(ctx) {
			return
		}
		_, err = s.write(ctx, successor)
	}
	if err != nil {
		s.leader.options.Logger.Warnw("The lease was not released, so a standby waits until it expires", "lease", s.bucket.Name(), "error", err)
	}
}
