/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

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
	// Reached is called once the leases have been read for the first time.
	Reached func()
}

// Leader runs for leader on behalf of the controllers of a process. Use New.
type Leader struct {
	options Options
	shares  []*share
	byName  map[string]*share
	// running is closed once every controller runs.
	running chan struct{}
	reached func()
	// serving counts the shares that this process leads.
	serving sync.WaitGroup
	// exit ends the process, except in a test.
	exit     func(message string, err error)
	failures metric.Int64Counter
	logger   atomic.Pointer[zap.SugaredLogger]
	// seen is what the election knows of each lease; only its goroutine uses it.
	seen map[string]observation
	// waitsFor is the lease with another number of buckets for which the election waits, once logged.
	waitsFor string

	mu       sync.Mutex
	members  []*member
	waiting  int
	stopping bool
	// failing is the reason for which the last request of a verb failed.
	failing map[string]string
}

// New returns a Leader that leads nothing yet.
func New(options Options) *Leader {
	l := &Leader{
		options: options, running: make(chan struct{}), reached: sync.OnceFunc(options.Reached),
		failing: map[string]string{}, byName: map[string]*share{},
	}
	l.logger.Store(zap.NewNop().Sugar())
	l.exit = func(message string, err error) { l.logger.Load().Fatalw(message, "error", err) }
	// The error is about the name, which is constant. The counter works in any case.
	l.failures, _ = otel.Meter("github.com/mallard-dev/mallard/internal/leader").Int64Counter("leader.election.errors",
		metric.WithDescription("Requests for leases that failed, by the reason that the API server gave."))
	for _, bucket := range hash.NewBucketSet(sets.New(LeaseNames(options.Component, options.Times.Buckets)...)).Buckets() {
		s := &share{leader: l, bucket: bucket}
		l.shares = append(l.shares, s)
		l.byName[bucket.Name()] = s
	}
	return l
}

// Run runs for leader, once all controllers run, until ctx ends. It returns when no
// key is being reconciled and the leases have been released. If a reconciliation does not
// end in time, the process exits instead, and its leases expire.
func (l *Leader) Run(ctx context.Context) {
	select {
	case <-l.running:
	case <-ctx.Done():
		return
	}
	var election sync.WaitGroup
	election.Go(func() { l.stand(ctx) })
	<-ctx.Done()
	l.mu.Lock()
	l.stopping = true
	for _, s := range l.shares {
		if s.state != standby {
			s.leave <- ""
		}
	}
	l.mu.Unlock()
	l.serving.Wait()
	election.Wait()
}

// lead promotes the reconcilers for a share, unless the process is stopping or it is too late.
func (l *Leader) lead(s *share, until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping || !time.Now().Before(until) {
		return false
	}
	l.logger.Load().Infow("Leading", "lease", s.bucket.Name(), "identity", l.options.Identity)
	// One message is to hand the share over, another to stop.
	s.state, s.leave = leading, make(chan string, 2)
	s.gate.open(until)
	for _, m := range l.members {
		if err := m.inner.Promote(s.bucket, m.enqueue); err != nil {
			l.exit("A reconciler could not take over", err)
		}
	}
	l.serving.Go(s.serve)
	return true
}

func (l *Leader) demote(s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.state = leaving
	for _, m := range l.members {
		m.inner.Demote(s.bucket)
	}
}

// standby lets reconcilers see the keys of a share again, which they no longer lead.
func (l *Leader) standby(s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.state = standby
	s.gate.open(time.Time{})
}

// handOver leaves a share to the process that asked for it, if this process leads another one.
func (l *Leader) handOver(s *share, successor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var others int
	for _, other := range l.shares {
		if other != s && other.state == leading {
			others++
		}
	}
	if others > 0 && s.state == leading {
		l.logger.Load().Infow("Handing a share over", "lease", s.bucket.Name(), "to", successor)
		s.state = leaving
		s.leave <- successor
	}
}

func (l *Leader) stateOf(s *share) state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return s.state
}

// standbys returns how many shares this process does not lead.
func (l *Leader) standbys() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var n int
	for _, s := range l.shares {
		if s.state == standby {
			n++
		}
	}
	return n
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

func (l *Leader) add(m *member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members = append(l.members, m)
	l.waiting++
}

func (l *Leader) memberRuns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		close(l.running)
	}
}
