/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"
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
	// Identity is unique, and stays the same when the container of a Pod restarts: the process then takes its own lease back at once.
	Identity string
	// Times are the durations and the number of buckets, which Check has accepted.
	Times  *leaderelection.Config
	Logger *zap.SugaredLogger
	// Reached is called whenever the leases have been read for an election.
	Reached func()
}

// Leader runs for leader on behalf of the controllers of a process. Use New, then Attach for each controller, then Run.
type Leader struct {
	options Options
	shares  []*share
	members []*member
	// serving counts the shares that this process leads.
	serving sync.WaitGroup
	// drained is closed when the process, at its end, is to give its shares up.
	drained <-chan struct{}
	// exit ends the process, except in a test.
	exit func(message string, err error)
	// seen holds the last known state of each lease; only its goroutine uses it.
	seen map[string]observation
	// failures and waits limit the log messages about failed requests, and about waiting for another number of buckets.
	failures, waits rate.Sometimes

	// ending reports whether only members that drain begin keys.
	ending atomic.Bool
	// handing makes sure that this process does not hand its last share over.
	handing sync.Mutex
}

// New returns a Leader that leads nothing yet.
func New(options Options) *Leader {
	l := &Leader{options: options, failures: rate.Sometimes{Interval: time.Minute}, waits: rate.Sometimes{Interval: time.Minute}}
	l.exit = func(message string, err error) { options.Logger.Fatalw(message, "error", err) }
	for _, bucket := range hash.NewBucketSet(sets.New(LeaseNames(options.Component, options.Times.Buckets)...)).Buckets() {
		l.shares = append(l.shares, &share{leader: l, bucket: bucket})
	}
	return l
}

// led returns how many shares this process leads or is leaving.
func (l *Leader) led() (n int) {
	for _, s := range l.shares {
		if !s.gate.until().IsZero() {
			n++
		}
	}
	return n
}

// handOver begins no key of a share anymore, so that another process can have it, unless this process leads no other one, or releases all soon.
func (l *Leader) handOver(s *share) bool {
	l.handing.Lock()
	defer l.handing.Unlock()
	leadsAnother := slices.ContainsFunc(l.shares, func(other *share) bool { return other != s && other.gate.isLeading() })
	if !leadsAnother || !s.gate.isLeading() || l.ending.Load() {
		return false
	}
	s.gate.close()
	return true
}

// shareOf returns the share that a key belongs to.
func (l *Leader) shareOf(key types.NamespacedName) *share {
	return l.shares[slices.IndexFunc(l.shares, func(s *share) bool { return s.bucket.Has(key) })]
}
