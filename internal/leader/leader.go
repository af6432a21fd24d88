/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"

	"knative.dev/pkg/hash"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/reconciler"
)

// Options are what a Leader needs; all are required.
type Options struct {
	// Client reads and writes the leases.
	Client kubernetes.Interface
	// Namespace is where they are.
	Namespace string
	// Component is what their names begin with.
	Component string
	// Identity is that of this process; see [Identity].
	Identity string
	// Times are how long a lease lasts and so on, as Check has found them good.
	Times *leaderelection.Config
}

// Leader stands for election on behalf of the controllers of a process. Use New.
type Leader struct {
	options Options
	// running is closed once every controller runs.
	running chan struct{}
	gate    gate
	// exit ends the process, but in a test.
	exit func(message string, err error)

	logger atomic.Pointer[zap.SugaredLogger]

	mu       sync.Mutex
	members  []*member
	waiting  int
	stopping bool
	leads    map[string]reconciler.Bucket
}

// New returns a Leader that leads nothing yet.
func New(options Options) *Leader {
	l := &Leader{options: options, running: make(chan struct{}), leads: map[string]reconciler.Bucket{}}
	l.logger.Store(zap.NewNop().Sugar())
	l.exit = func(message string, err error) { l.logger.Load().Fatalw(message, "error", err) }
	return l
}

// LeaseNames are the names of the leases, one for each part into which the keys are divided.
func LeaseNames(component string, buckets uint32) []string {
	var names []string
	for i := range buckets {
		names = append(names, strings.ToLower(fmt.Sprintf("%s.%02d-of-%02d", component, i, buckets)))
	}
	return names
}

// Run stands for election, once all controllers run, until ctx ends. It returns when
// no worker writes any more and the leases have been given back. If a worker does not
// come to its end, the process ends instead, and the lease with its time.
func (l *Leader) Run(ctx context.Context) error {
	select {
	case <-l.running:
	case <-ctx.Done():
		return nil
	}
	// The leases are renewed while the last workers come to their end.
	electing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var terms sync.WaitGroup
	for _, bucket := range hash.NewBucketSet(sets.New(LeaseNames(l.options.Component, l.options.Times.Buckets)...)).Buckets() {
		t, err := l.newTerm(bucket)
		if err != nil {
			return err
		}
		terms.Go(func() { t.run(electing) })
	}
	<-ctx.Done()
	l.stop(electing)
	stop()
	terms.Wait()
	return nil
}

// stop demotes every reconciler and waits for the workers.
func (l *Leader) stop(ctx context.Context) {
	l.mu.Lock()
	l.stopping = true
	for _, bucket := range l.leads {
		l.demote(bucket)
	}
	l.mu.Unlock()
	l.drain(ctx, l.options.Times.RenewDeadline)
}

func (l *Leader) drain(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := l.gate.drain(ctx); err != nil {
		l.exit("The process ends without giving its lease back, since not all workers have come to their end", err)
	}
}

// started promotes the reconcilers. client-go calls it from a goroutine of its own, which may be late.
func (l *Leader) started(ctx context.Context, bucket reconciler.Bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil || l.stopping {
		return
	}
	l.logger.Load().Infow("Leading", "lease", bucket.Name(), "identity", l.options.Identity)
	l.leads[bucket.Name()] = bucket
	l.promote(bucket)
}

// stopped is called when a lease has been lost, or was never had. What is being
// worked on has to end before a standby may take the lease.
func (l *Leader) stopped(ctx context.Context, bucket reconciler.Bucket) {
	l.mu.Lock()
	_, led := l.leads[bucket.Name()]
	l.demote(bucket)
	l.mu.Unlock()
	if !led {
		return
	}
	l.logger.Load().Errorw("Lost the lease: it could not be renewed in time", "lease", bucket.Name(), "identity", l.options.Identity)
	l.drain(ctx, Room(l.options.Times)/2)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return
	}
	l.gate.open()
	// Their keys may have come while the gate was shut.
	for _, other := range l.leads {
		l.promote(other)
	}
}

// promote needs the lock to be held, as demote does.
func (l *Leader) promote(bucket reconciler.Bucket) {
	for _, m := range l.members {
		if err := m.inner.Promote(bucket, m.enqueue); err != nil {
			l.exit("A reconciler could not take over", err)
		}
	}
}

func (l *Leader) demote(bucket reconciler.Bucket) {
	delete(l.leads, bucket.Name())
	for _, m := range l.members {
		m.inner.Demote(bucket)
	}
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
