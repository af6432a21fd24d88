/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"
	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
)

// process is the state that the constructors of one process share.
type process struct {
	off          map[concern]bool
	parsers      Parsers
	constructors atomic.Int64
	informers    informers
	ducks        sync.Map // of duck.InformerFactory to *factory
	work         work
	connections  connections
	paths        sync.Map // of the webhooks
	// registrations are the reconciliations that may write webhook configurations.
	registrations *rate.Limiter
	// checks are made for the readiness of the process. Constructors add them, which have returned when it is running.
	checks []func() error
	// running is set when the informers start: ConfigMaps were read, and an error in one of them does not end the process anymore.
	running atomic.Bool
	// leases is set at the first response about a lease.
	leases   atomic.Bool
	renewals sync.Map // of the URL of a lease to its renewal
	// signal is the context that ends at SIGTERM. The goroutine of the main sets it before others start.
	signal context.Context //nolint:containedctx // the lifetime of the process
	// log is the logger of the process once a constructor was called, and a fallback before.
	log atomic.Pointer[zap.SugaredLogger]
}

func (p *process) logger() *zap.SugaredLogger { return p.log.Load() }

// install replaces injection.Default at its first call.
var install = sync.OnceValue(func() *process {
	off, err := parseOff(os.Getenv(Variable))
	if err != nil {
		log.Fatal(err)
	}
	p := &process{off: off, registrations: rate.NewLimiter(rate.Every(apart), 1)}
	p.log.Store(logging.FromContext(context.Background()))
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
			ctx = controller.WithTracker(ctx, nil) // the outer one would report the lookup
		}
		p.log.Store(logging.FromContext(ctx))
		logger := logging.FromContext(ctx).WithOptions(zap.WithFatalHook(p))
		c := &construction{Context: logging.WithLogger(ctx, logger), process: p}
		impl := constructor(c, p.watcher(watcher))
		c.returned.Store(true)
		h := &hardened{process: p, inner: impl.Reconciler, backoff: newBackoff(clock.RealClock{}), writes: newWrites(&p.informers)}
		if t := c.tracker.Load(); t != nil {
			if impl.Tracker != t {
				logging.FromContext(ctx).Fatalf("A constructor made two controllers and returned the second one, %s, so that references of the first one "+
					"would enqueue nothing: wrap each with hardening.Constructor, or set %s=%s", impl.Name, Variable, references)
			}
			t.callback = impl.EnqueueKey
			h.tracker = t
		}
		if served, ok := impl.Reconciler.(interface{ Path() string }); ok {
			p.paths.Store(served.Path(), nil)
		}
		impl.Reconciler = h.wrap()
		return impl
	}
}

// Exit ends the process with 1 if sharedmain has returned without SIGTERM, because a part has failed. It is the last statement of main: sharedmain
// returns in the same way after both.
func Exit() {
	if signal := install().signal; signal != nil && signal.Err() == nil {
		os.Exit(1)
	}
}

// construction is the context of one constructor, which many keep for the life of the process.
type construction struct {
	context.Context //nolint:containedctx // it is a context

	process  *process
	tracker  atomic.Pointer[tracking]
	returned atomic.Bool
	late     sync.Once
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
	set := c.Context.Value(key)
	switch {
	case c.returned.Load():
		c.late.Do(func() {
			c.process.logger().Warnw("A controller that is made now is not hardened: see hardening.Constructor", zap.Stack("stack"))
		})
	case set == nil && c.tracker.CompareAndSwap(nil, newTracking()):
		return c.tracker.Load()
	}
	return set
}

// trackerKey is the key under which package controller looks for a tracker.
var trackerKey = keyOf(controller.WithTracker(context.Background(), nil))

// keyOf returns the key of a value that was just added to a context. Keys are values of empty struct types, which are not exported.
func keyOf(ctx context.Context) any {
	return reflect.Zero(reflect.ValueOf(ctx).Elem().FieldByName("key").Elem().Type()).Interface()
}

// injector is the injection.Default of a hardened process. SetupInformers is the first step of sharedmain that has the rest.Config and may
// return another context.
type injector struct {
	injection.Interface

	process *process
}

// SetupInformers implements injection.Interface.
func (i *injector) SetupInformers(ctx context.Context, cfg *rest.Config) (context.Context, []controller.Informer) {
	p := i.process
	if !p.off[limits] {
		removeDefaultLimit(cfg, int(p.constructors.Load()))
	}
	if err := checkVerbosity(flag.CommandLine); err != nil && !p.off[secrets] {
		log.Fatal(err)
	}
	cfg.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &transport{inner, p} })
	if !p.off[ports] {
		checkPorts(ctx)
	}
	p.signal = ctx
	if !p.off[stopping] {
		ctx = p.connections.withGracePeriod(p.work.detach(ctx), p.signal)
	}
	i.RegisterDuck(p.rehearsal(i.Interface, i.GetInformerFactories()))
	ctx, informers := i.Interface.SetupInformers(ctx, cfg)
	ctx, serve := p.withProbes(ctx, p.signal, informers)
	if os.Getenv(ProbesVariable) != "" {
		serve() // The main serves no other probes, and is alive while it waits for the API server.
	}
	if !p.off[configmaps] && os.Getenv(system.NamespaceEnvKey) != "" {
		var err error
		if ctx, err = p.parsers.withConfigMaps(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if len(informers) > 0 {
		informers[0] = starting{informers[0], p, serve}
	} else {
		serve()
	}
	if !p.off[attributes] {
		ctx = p.withBoundedMetrics(ctx)
	}
	if !p.off[requests] {
		ctx = withQuietRequests(ctx)
	}
	return ctx, informers
}

var verbose = regexp.MustCompile(`(^|=)([89]|[1-9]\d+)(,|$)`)

// checkVerbosity returns an error for levels of klog at which client-go logs bodies of requests, also those of Secrets.
func checkVerbosity(flags *flag.FlagSet) error {
	for _, name := range []string{"v", "vmodule"} {
		if set := flags.Lookup(name); set != nil && verbose.MatchString(set.Value.String()) {
			return fmt.Errorf("flag --%s=%s: must be at most 7: from 8 on, client-go logs the values of Secrets", name, set.Value)
		}
	}
	return nil
}

// starting is the first informer of a process. Those of SetupInformers start together, after ConfigMaps were read and handlers were added.
type starting struct {
	controller.Informer

	process *process
	serve   func()
}

// Run implements controller.Informer.
func (s starting) Run(stop <-chan struct{}) {
	s.process.running.Store(true)
	s.serve()
	if !s.process.off[probes] {
		go s.process.reportUnsynced(stop)
	}
	s.Informer.Run(stop)
}

// removeDefaultLimit lifts the limit of requests that sharedmain and package injection set unless the main or the user chooses one: 5 per second and
// constructor, with bursts of 10. The API server's priority and fairness decides instead, which knows all clients.
func removeDefaultLimit(cfg *rest.Config, constructors int) {
	chosen := flag.Lookup("kube-api-qps")
	isDefault := func(n int) bool { return cfg.QPS == float32(n)*rest.DefaultQPS && cfg.Burst == n*rest.DefaultBurst }
	if (chosen == nil || chosen.Value.String() == "0") && (isDefault(1) || isDefault(constructors)) {
		cfg.QPS, cfg.Burst = -1, 0
	}
}
