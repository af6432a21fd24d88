/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/reconciler"
)

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// production are the durations of config/config-leader-election.yaml.
func production(buckets uint32) *leaderelection.Config {
	return &leaderelection.Config{Buckets: buckets, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 500 * time.Millisecond}
}

// world is an API server with leases, and the keys that processes reconcile. It is made for
// the fake clock of a synctest bubble.
type world struct {
	t       *testing.T
	mu      sync.Mutex
	leases  map[string]*coordinationv1.Lease
	version int
	// at holds who reconciles each key.
	at map[types.NamespacedName]*process
	// led holds who began to reconcile each key last.
	led map[types.NamespacedName]*process
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, leases: map[string]*coordinationv1.Lease{}, at: map[types.NamespacedName]*process{}, led: map[types.NamespacedName]*process{},
	}
}

// connection is the path from one process to the API server.
type connection struct {
	coordinationclient.LeaseInterface

	world *world
	mu    sync.Mutex
	// way returns the latencies of a request and of its response, or an error in place of a response.
	way func(verb string) (there, back time.Duration, err error)
}

func fine(string) (there, back time.Duration, err error) {
	return time.Millisecond, time.Millisecond, nil
}

// cut is a network that loses every request.
func cut(string) (there, back time.Duration, err error) { return time.Hour, 0, nil }

func (c *connection) set(way func(string) (time.Duration, time.Duration, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.way = way
}

// do sends a request. A request that was sent is executed even if its sender no longer waits for it.
func do[T any](ctx context.Context, c *connection, verb string, carryOut func(w *world) (T, error)) (T, error) {
	c.mu.Lock()
	there, back, err := c.way(verb)
	c.mu.Unlock()
	type answer struct {
		value T
		err   error
	}
	var none T
	answered := make(chan answer, 1)
	if err != nil {
		return none, err
	}
	if there < time.Hour {
		go func() {
			<-time.After(there)
			c.world.mu.Lock()
			value, err := carryOut(c.world)
			c.world.mu.Unlock()
			<-time.After(back)
			answered <- answer{value, err}
		}()
	}
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (c *connection) List(ctx context.Context, _ metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return do(ctx, c, "list", func(w *world) (*coordinationv1.LeaseList, error) {
		list := &coordinationv1.LeaseList{}
		for _, lease := range w.leases {
			list.Items = append(list.Items, *lease.DeepCopy())
		}
		return list, nil
	})
}

func (c *connection) Create(ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return do(ctx, c, "create", func(w *world) (*coordinationv1.Lease, error) {
		if w.leases[lease.Name] != nil {
			return nil, apierrors.NewAlreadyExists(leases, lease.Name)
		}
		return w.store(lease), nil
	})
}

func (c *connection) Update(ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return do(ctx, c, "update", func(w *world) (*coordinationv1.Lease, error) {
		switch stored := w.leases[lease.Name]; {
		case stored == nil:
			return nil, apierrors.NewNotFound(leases, lease.Name)
		case stored.ResourceVersion != lease.ResourceVersion:
			return nil, apierrors.NewConflict(leases, lease.Name, nil)
		}
		return w.store(lease), nil
	})
}

func (w *world) store(lease *coordinationv1.Lease) *coordinationv1.Lease {
	w.version++
	lease = lease.DeepCopy()
	lease.ResourceVersion = strconv.Itoa(w.version)
	w.leases[lease.Name] = lease
	return lease.DeepCopy()
}

// holders returns the holder of each lease that has one.
func (w *world) holders() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	holders := map[string]string{}
	for name, lease := range w.leases {
		if who := holder(lease); who != "" {
			holders[name] = who
		}
	}
	return holders
}

// keys are those that each process reconciles again and again. They are in different shares.
var keys = func() (keys []types.NamespacedName) {
	for i := range 12 {
		keys = append(keys, types.NamespacedName{Namespace: "ns", Name: fmt.Sprint("key-", i)})
	}
	return keys
}()

// process runs a Leader with one reconciler.
type process struct {
	reconciler.LeaderAwareFuncs

	connection

	options Options
	leader  *Leader
	// work is the duration of a reconciliation; stubborn ones do not look at their context.
	work     func() time.Duration
	stubborn bool
	// draining is the time for which it leads after stop.
	draining time.Duration
	stop     context.CancelFunc
	dead     bool
	ended    chan struct{}
}

// start starts a process after the changes to it, because its goroutines read what these set.
func (w *world) start(name string, buckets uint32, changes ...func(*process)) *process {
	w.t.Helper()
	p := &process{connection: connection{world: w, way: fine}, ended: make(chan struct{}), work: func() time.Duration { return time.Second }}
	ctx, stop := context.WithCancel(w.t.Context())
	p.stop = stop
	p.options = Options{Leases: p, Component: "Duck", Identity: name, Times: production(buckets), Logger: zaptest.NewLogger(w.t).Sugar().Named(name), Reached: func() {}}
	for _, change := range changes {
		change(p)
	}
	p.leader = New(p.options)
	p.leader.exit = func(message string, err error) {
		w.t.Logf("%s exits: %s: %v", name, message, err)
		p.kill()
	}
	m := &member{leader: p.leader, inner: p}
	p.leader.members = append(p.leader.members, m)
	for _, key := range keys {
		go func() {
			for {
				select {
				case <-p.ended:
					return
				case <-time.After(100 * time.Millisecond):
					_ = m.Reconcile(context.WithValue(context.Background(), keyKey{}, key), key.String())
				}
			}
		}()
	}
	go func() {
		defer close(p.ended)
		drained := make(chan struct{})
		context.AfterFunc(ctx, func() {
			<-time.After(p.draining)
			close(drained)
		})
		p.leader.Run(ctx, drained)
	}()
	return p
}

type keyKey struct{}

// Reconcile fails the test when another process reconciles the same key.
func (p *process) Reconcile(ctx context.Context, _ string) error {
	key := ctx.Value(keyKey{}).(types.NamespacedName)
	if !p.IsLeaderFor(key) || !p.begin(key) {
		return nil
	}
	ended := ctx.Done()
	if p.stubborn {
		ended = nil
	}
	select {
	case <-ended:
	case <-time.After(p.work()):
	}
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if p.world.at[key] == p {
		delete(p.world.at, key)
	}
	return nil
}

func (p *process) begin(key types.NamespacedName) bool {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return false
	}
	if other := w.at[key]; other != nil {
		w.t.Errorf("%s reconciles %s while %s does", p.options.Identity, key, other.options.Identity)
	}
	w.at[key], w.led[key] = p, p
	return true
}

// kill ends a process as kill -9 does.
func (p *process) kill() {
	p.set(cut)
	p.world.mu.Lock()
	p.dead = true
	for key, at := range p.world.at {
		if at == p {
			delete(p.world.at, key)
		}
	}
	p.world.mu.Unlock()
	p.stop()
}

// shares returns how many leases each holder has.
func (w *world) shares() map[string]int {
	shares := map[string]int{}
	for _, who := range w.holders() {
		shares[who]++
	}
	return shares
}

// within fails the test if a condition does not hold before a duration has passed. It returns how much has.
func (w *world) within(limit time.Duration, what string, holds func() bool) time.Duration {
	w.t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > limit {
			w.t.Fatalf("not within %v: %s; leases: %v", limit, what, w.holders())
		}
		<-time.After(10 * time.Millisecond)
	}
	return time.Since(began)
}

// reconciledBy returns a condition: since it was made, each key has been reconciled, and by these processes only.
func (w *world) reconciledBy(processes ...*process) func() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.led)
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, key := range keys {
			if !slices.Contains(processes, w.led[key]) {
				return false
			}
		}
		return true
	}
}

// isDead reports whether a process was killed or has exited.
func (w *world) isDead(p *process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return p.dead
}

// busy reports whether a process reconciles a key.
func (w *world) busy(p *process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.at {
		if at == p {
			return true
		}
	}
	return false
}

func stopAll(processes ...*process) {
	for _, p := range processes {
		p.stop()
	}
	for _, p := range processes {
		<-p.ended
	}
}
