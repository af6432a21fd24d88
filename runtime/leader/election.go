/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

// wantedBy is the annotation with which a process requests one lease from the holder of several. Its value is the identity of that process.
const wantedBy = "leader.mallard.dev/wanted-by"

// unknown is the reason of a failure without a response.
const unknown = "Unknown"

// failures counts failed requests. The error would be about its name, which is constant.
var failures, _ = otel.Meter("github.com/mallard-dev/mallard/runtime/leader").Int64Counter("leader.election.errors",
	metric.WithDescription("Requests for leases that failed, by the reason that the API server gave."))

// observation is a lease as this process has seen it first, and when it expires if it does not change, by the clock of this process.
type observation struct {
	spec    coordinationv1.LeaseSpec
	expires time.Time
}

// LeaseNames returns the names of the leases, one for each share of the keys.
func LeaseNames(component string, buckets uint32) []string {
	var names []string
	for i := range buckets {
		names = append(names, strings.ToLower(fmt.Sprintf("%s.%02d-of-%02d", component, i, buckets)))
	}
	return names
}

func holder(lease *coordinationv1.Lease) string { return ptr.Deref(lease.Spec.HolderIdentity, "") }

// Run runs for leader until ctx ends; the informers must have filled their caches. From then on no key is begun, except of reconcilers that have a
// method Drains, until drained is closed. It returns when no key is being reconciled and the leases have been released. If a reconciliation does
// not end in time, the process exits instead, and its leases expire.
func (l *Leader) Run(ctx context.Context, drained <-chan struct{}) {
	l.drained = drained
	context.AfterFunc(ctx, func() { l.ending.Store(true) })
	defer l.serving.Wait()
	l.options.Logger.Infow("Running for leader", "leases", len(l.shares), "identity", l.options.Identity)
	for _, reason := range []string{string(metav1.StatusReasonForbidden), unknown} {
		failures.Add(context.Background(), 0, metric.WithAttributes(attribute.String("reason", reason)))
	}
	for pause := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if l.led() < len(l.shares) {
			l.elect(ctx)
		}
		pause = wait.Jitter(l.options.Times.RetryPeriod, jitter)
		for _, o := range l.seen {
			if left := time.Until(o.expires); left > 0 {
				pause = min(pause, left)
			}
		}
	}
}

// elect claims every share that is vacant. It leads none of them before it has seen, after its claim, that no process with another number of
// buckets leads: of two that claim at the same time at least one sees the other, and gives its claim up.
func (l *Leader) elect(ctx context.Context) {
	leases, err := l.look(ctx)
	if err != nil {
		return
	}
	l.options.Reached()
	if l.rival(leases) {
		return
	}
	claims := map[*share]time.Time{}
	for _, i := range rand.Perm(len(l.shares)) { //nolint:gosec // no secret: it only spreads the claims of several processes
		s := l.shares[i]
		lease := leases[s.bucket.Name()]
		if !s.gate.until().IsZero() || !l.vacant(lease) {
			continue
		}
		s.lease = lease
		if until, err := s.write(context.WithoutCancel(ctx), l.options.Identity); err == nil {
			claims[s] = until
		}
	}
	if len(claims) == 0 {
		l.ask(ctx, leases)
		return
	}
	leases, err = l.look(ctx)
	isConfirmed := err == nil && !l.rival(leases)
	for s, until := range claims {
		if isConfirmed && ctx.Err() == nil && time.Now().Before(until) {
			s.lead(until)
		} else {
			s.release("")
		}
	}
}

// store creates or updates a lease, unless it has changed since it was read.
func (l *Leader) store(ctx context.Context, lease *coordinationv1.Lease) (stored *coordinationv1.Lease, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Times.RenewDeadline)
	defer cancel()
	if lease.ResourceVersion == "" {
		stored, err = l.options.Leases.Create(ctx, lease, metav1.CreateOptions{})
	} else {
		stored, err = l.options.Leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	l.report("write", err)
	return stored, err //nolint:wrapcheck // callers recognize conflicts
}

// list reads the leases of the component by their names. Those of this process's shares that do not exist are empty.
func (l *Leader) list(ctx context.Context) (map[string]*coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Times.RenewDeadline)
	defer cancel()
	// Without a resource version the answer holds all that was written before.
	list, err := l.options.Leases.List(ctx, metav1.ListOptions{})
	l.report("list", err)
	if err != nil {
		return nil, fmt.Errorf("listing leases: %w", err)
	}
	ours := regexp.MustCompile("^" + regexp.QuoteMeta(strings.ToLower(l.options.Component)) + `\.\d\d-of-\d\d$`)
	leases := map[string]*coordinationv1.Lease{}
	for _, s := range l.shares {
		leases[s.bucket.Name()] = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: s.bucket.Name()}}
	}
	for i := range list.Items {
		if lease := &list.Items[i]; ours.MatchString(lease.Name) {
			leases[lease.Name] = lease
		}
	}
	return leases, nil
}

// look reads the leases and remembers since when each has not changed.
func (l *Leader) look(ctx context.Context) (map[string]*coordinationv1.Lease, error) {
	leases, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]observation{}
	for name, lease := range leases {
		o, ok := l.seen[name]
		if !ok || !equality.Semantic.DeepEqual(o.spec, lease.Spec) {
			seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, int32(l.options.Times.LeaseDuration/time.Second)) //nolint:gosec // an int32 holds 68 years
			o = observation{spec: lease.Spec, expires: time.Now().Add(time.Duration(seconds) * time.Second)}
		}
		seen[name] = o
	}
	l.seen = seen
	return leases, nil
}

// vacant reports whether no other process can lead the share of a lease. A share that an earlier process of the same Pod held is vacant.
func (l *Leader) vacant(lease *coordinationv1.Lease) bool {
	who := holder(lease)
	return who == "" || who == l.options.Identity || !time.Now().Before(l.seen[lease.Name].expires)
}

// rival reports whether a process with another number of buckets leads a share. Shares of different numbers overlap. It clears the leases of such
// processes that have exited, because a process that starts later would wait for them.
func (l *Leader) rival(leases map[string]*coordinationv1.Lease) bool {
	ours := LeaseNames(l.options.Component, l.options.Times.Buckets)
	for name, lease := range leases {
		switch {
		case slices.Contains(ours, name) || holder(lease) == "":
		case !l.vacant(lease):
			l.waits.Do(func() {
				l.options.Logger.Infow("Waiting for processes with another number of buckets", "lease", name, "holder", holder(lease))
			})
			return true
		default:
			lease.Spec.HolderIdentity = nil
			_, _ = l.store(context.Background(), lease)
		}
	}
	return false
}

// ask requests a share by an annotation if another process leads at least two more than this one, one share at a time.
func (l *Leader) ask(ctx context.Context, leases map[string]*coordinationv1.Lease) {
	shares := map[string]int{}
	for _, s := range l.shares {
		if lease := leases[s.bucket.Name()]; !l.vacant(lease) {
			shares[holder(lease)]++
			if lease.Annotations[wantedBy] == l.options.Identity {
				return
			}
		}
	}
	for _, s := range l.shares {
		lease := leases[s.bucket.Name()]
		if lease.Annotations[wantedBy] != "" || shares[holder(lease)] < l.led()+2 {
			continue
		}
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, wantedBy, l.options.Identity)
		_, _ = l.store(ctx, lease)
		return
	}
}

// report counts and logs a failed request.
func (l *Leader) report(verb string, err error) {
	if err == nil || changed(err) || errors.Is(err, context.Canceled) {
		return
	}
	reason := cmp.Or(string(apierrors.ReasonForError(err)), unknown)
	failures.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", reason)))
	l.failures.Do(func() {
		l.options.Logger.Errorw("A request for leases failed; without them this process reconciles nothing", "verb", verb, "reason", reason, "error", err)
	})
}
