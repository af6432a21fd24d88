/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"os"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
)

// process is the state that the constructors of one process share.
type process struct {
	off          map[concern]bool
	constructors atomic.Int64
	informers    informers
	ducks        sync.Map // of duck.InformerFactory to *factory
	work         work
	connections  connections
	// checks are made for the readiness of the process. Constructors add them, which have returned when it is running.
	checks []func() error
	// failed is set before the context of the process is canceled because a part has failed.
	failed atomic.Bool
	// running is set when the informers start: ConfigMaps were read, and an error in one of them does not end the process anymore.
	running atomic.Bool
	// leases is set at the first response about a lease.
	leases atomic.Bool
	// signal is the context that ends at SIGTERM.
	signal atomic.Pointer[context.Context]
	log    atomic.Pointer[zap.SugaredLogger]
}

// logger returns the logger of the process, or a fallback before it is known.
func (p *process) logger() *zap.SugaredLogger {
	if l := p.log.Load(); l != nil {
		return l
	}
	return logging.FromContext(context.Background())
}

// install replaces injection.Default at its first call.
var install = sync.OnceValue(func() *process {
	p := &process{off: readOff()}
	injection.Default = &injector{Interface: injection.Default, process: p}
	return p
})

// Constructors returns constructors that harden what the given ones make. It is called before sharedmain begins, with all constructors of the
// process. An invalid value of [Variable] ends the process.
func Constructors(constructors ...injection.ControllerConstructor) []injection.ControllerConstructor {
	hardened := make([]injection.ControllerConstructor, len(constructors))
	for i, c := range constructors {
		hardened[i] = Constructor(c)
	}
	return hardened
}

// Constructor is [Constructors] for one constructor: for mains that have named ones, and for controllers that a reconciler makes while it runs. The
// constructor must return the only controller.Impl that it makes.
func Constructor(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return install().constructor(constructor)
}

func (p *process) constructor(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	p.constructors.Add(1)
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		if outer, ok := ctx.Value(constructionKey{}).(*construction); ok {
			if !outer.returned.Load() {
				return constructor(ctx, watcher) // it was passed twice
			}
			outer.later.Add(1)
			defer outer.later.Add(-1)
		}
		p.log.CompareAndSwap(nil, logging.FromContext(ctx))
		c := &construction{Context: p.withFatalHook(ctx), process: p}
		impl := constructor(c, p.watcher(watcher))
		c.returned.Store(true)
		h := &hardened{process: p, inner: impl.Reconciler, backoff: newBackoff(), writes: newWrites(&p.informers)}
		if t := c.tracker.Load(); t != nil {
			if impl.Tracker != t {
				logging.FromContext(ctx).Fatalf("A constructor made two controllers and returned the second one, %s, so that references of the first one "+
					"would enqueue nothing: wrap each with hardening.Constructor, or set %s=%s", impl.Name, Variable, references)
			}
			t.bind(impl.EnqueueKey)
			h.tracker = t
		}
		impl.Reconciler = h.wrap()
		return impl
	}
}

// Exit ends the process with 1 if a part of it has failed, or if sharedmain has returned without SIGTERM. It is the last statement of main:
// sharedmain returns in the same way after SIGTERM and after a failure.
func Exit() {
	p := install()
	if signal := p.signal.Load(); p.failed.Load() || signal != nil && (*signal).Err() == nil {
		os.Exit(1)
	}
}

// construction is the context of one constructor, which many keep for the life of the process.
type construction struct {
	context.Context //nolint:containedctx // it is a context

	process  *process
	tracker  atomic.Pointer[tracking]
	returned atomic.Bool
	// later is the number of constructors that are being called with it although it has returned.
	later    atomic.Int32
	reported sync.Once
}

// constructionKey is the key under which a construction returns itself.
type constructionKey struct{}

// Value implements context.Context. It answers package controller with a tracker that forgets, once, and packages of duck types with a
// factory that does not block.
func (c *construction) Value(key any) any {
	if key == (constructionKey{}) {
		return c
	}
	if key == trackerKey && !c.process.off[references] {
		return c.nextTracker(key)
	}
	value := c.Context.Value(key)
	if factory, ok := value.(duck.InformerFactory); ok && !c.process.off[ducks] {
		return c.process.duckFactory(c.Context, factory)
	}
	return value
}

// nextTracker returns a tracker for the first controller.Impl that the constructor makes. Each other one has upstream's, because its callback
// enqueues keys of one Impl only.
func (c *construction) nextTracker(key any) any {
	if c.returned.Load() {
		if c.later.Load() == 0 {
			c.reported.Do(func() {
				logging.FromContext(c.Context).Infow("A controller is made after its constructor has returned. It is hardened only if it is "+
					"made by hardening.Constructor", zap.String("stack", string(debug.Stack())))
			})
		}
		return c.Context.Value(key)
	}
	if set := c.Context.Value(key); set != nil {
		return set
	}
	if t := newTracking(); c.tracker.CompareAndSwap(nil, t) {
		return t
	}
	return nil
}

// trackerKey is the key under which package controller looks for a tracker.
var trackerKey = keyOf(controller.WithTracker(context.Background(), nil))

// keyOf returns the key of a value that was just added to a context. Keys are values of empty struct types, which are not exported.
func keyOf(ctx context.Context) any {
	return reflect.Zero(reflect.ValueOf(ctx).Elem().FieldByName("key").Elem().Type()).Interface()
}
