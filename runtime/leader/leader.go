/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"knative.dev/pkg/hash"
	"knative.dev/pkg/leaderelection"
)

// Options configure a Leader; all are required.
type Options struct {
	// Leases reads and writes the leases, which are in one namespace.
	Leases coordinationclient.LeaseInterface
	// Component is the first part of the names of the leases.
	Component string
	// Identity is that of this process; see [Identity].
	Identity string
	// Times are the durations and the number of buckets, as Check has found them good.
	Times *leaderelection.Config
	// Logger is that of the process.
	Logger *zap.SugaredLogger
	// Reached is called once the leases have been read for the first time.
	Reached func()
}

// Leader runs for leader on behalf of the controllers of a process. Use New, then Attach for each controller, then Run.
type Leader struct {
	options Options
	logger  *zap.SugaredLogger
	shares  []*share
	members []*member
	reached func()
	// serving counts the shares that this process leads.
	serving sync.WaitGroup
	// exit ends the process, except in a test.
	exit     func(message string, err error)
	failures metric.Int64Counter
	// seen is what the election knows of each lease; only its goroutine uses it.
	seen map[string]observation
	// waitsFor is the lease with another number of buckets for which the election waits, once logged.
	waitsFor string

	mu sync.Mutex
	// failing is the reason for which the last request of a verb failed.
	failing map[string]string
}

// New returns a Leader that leads nothing yet.
func New(options Options) *Leader {
	l := &Leader{options: options, logger: options.Logger, reached: sync.OnceFunc(options.Reached), failing: map[string]string{}}
	l.exit = func(message string, err error) { l.logger.Fatalw(message, "error", err) }
	// The error is about the name, which is constant. The counter works in any case.
	l.failures, _ = otel.Meter("github.com/mallard-dev/mallard/runtime/leader").Int64Counter("leader.election.errors",
		metric.WithDescription("Requests for leases that failed, by the reason that the API server gave."))
	for _, bucket := range hash.NewBucketSet(sets.New(LeaseNames(options.Component, options.Times.Buckets)...)).Buckets() {
		l.shares = append(l.shares, &share{leader: l, bucket: bucket})
	}
	return l
}

// Run runs for leader until ctx ends; the informers must have filled their caches. It returns when no
// key is being reconciled and the leases have been released. If a reconciliation does not
// end in time, the process exits instead, and its leases expire.
func (l *Leader) Run(ctx context.Context) {
	l.stand(ctx)
	l.serving.Wait()
}

// led returns how many shares this process leads or is leaving.
func (l *Leader) led() int {
	var n int
	for _, s := range l.shares {
		if !s.gate.isStandby() {
			n++
		}
	}
	return n
}

// handOver begins no key of a share anymore, so that another process can have it, unless this process leads no other one.
func (l *Leader) handOver(s *share) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	leadsAnother := slices.ContainsFunc(l.shares, func(other *share) bool { return other != s && other.gate.isLeading() })
	if !leadsAnother || !s.gate.isLeading() {
		return false
	}
	s.gate.close()
	return true
}

// shareOf returns the share that a key belongs to.
func (l *Leader) shareOf(key types.NamespacedName) *share {
	for _, s := range l.shares[1:] {
		if s.bucket.Has(key) {
			return s
		}
	}
	return l.shares[0]
}
