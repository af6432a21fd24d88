/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/lru"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud"
)

// Options of the hooks of a process. All are optional.
type Options struct {
	// FieldManager is the name under which the API server records what the hooks write, and the source of their Events: hooks by default.
	FieldManager string
	// Command returns the program and the arguments that run an executable. By default that is the executable alone.
	Command func(path string) ([]string, error)
	// Folder is the folder in which each run of an executable gets its own folder. By default it is that of the system for temporary files.
	Folder string
	// RetryDelay is the delay after the first failure. It doubles with each failure that follows, up to MaxRetryDelay. They are 5s and 32s by default.
	RetryDelay, MaxRetryDelay time.Duration
	// Timeout ends a run, 10m by default, and settings.timeout of a hook replaces it.
	Timeout time.Duration
	// Grace is the time for which a run may continue when the process ends, 10s by default. It must be shorter than the renew deadline of the election.
	Grace time.Duration
	// Conflicts is the number of successive conflicts that are a failure, 10 by default. With a negative number, conflicts are never a failure.
	Conflicts int
	// ConfidentialKinds are treated as Secret is: the values of their objects that a hook receives or writes are masked in what is logged and recorded.
	ConfidentialKinds confidential.Kinds
	// Deletions bounds how long a plan waits for an object that is being deleted before that is a failure, 5m by default.
	Deletions time.Duration
	// MetricPrefix begins the names of the metrics of hooks, such as shop_ for shop_hook_runs_total.
	MetricPrefix MetricPrefix
}

func (o Options) withDefaults() Options {
	o.FieldManager = cmp.Or(o.FieldManager, "hooks")
	o.RetryDelay = cmp.Or(o.RetryDelay, 5*time.Second)
	o.MaxRetryDelay = cmp.Or(o.MaxRetryDelay, 32*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Minute)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	o.Conflicts = cmp.Or(o.Conflicts, 10)
	o.Deletions = cmp.Or(o.Deletions, 5*time.Minute)
	return o
}

// NewController returns the constructor of the controller that runs hooks, for sharedmain. The hooks run on one replica: the one that leads the first
// queue, whatever the number of buckets. The error has every mistake in the bindings.
func NewController(options Options, hooks ...*Hook) (injection.ControllerConstructor, error) {
	hooks, err := options.completed(hooks)
	if err != nil {
		return nil, err
	}
	options = options.withDefaults()
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		client, err := options.client(ctx)
		if err != nil {
			logging.FromContext(ctx).Fatalw("Hooks cannot run", "error", err)
		}
		r := &runner{
			options: options, hooks: hooks, ctx: ctx, client: client, recorder: newRecorder(ctx, options.FieldManager), custom: newCustomMetrics(ctx),
			measured: newInstruments(string(options.MetricPrefix)),
		}
		r.impl = controller.NewContext(ctx, r, controller.ControllerOptions{
			WorkQueueName: "Hooks", Concurrency: len(r.queues()), Logger: logging.FromContext(ctx).Named("hooks"),
		})
		observeQueues(r)
		return r.impl
	}, nil
}

func (o Options) client(ctx context.Context) (*crud.Client, error) {
	return crud.New(injection.GetConfig(ctx), crud.Options{FieldManager: o.FieldManager, ConfidentialKinds: o.ConfidentialKinds})
}

// completed returns hooks with the defaults of their bindings. The error has every mistake in these, and in the options.
func (o Options) completed(hooks []*Hook) ([]*Hook, error) {
	var errs []error
	if err := new(MetricPrefix).Decode(string(o.MetricPrefix)); err != nil {
		errs = append(errs, fmt.Errorf("MetricPrefix: %q %w", o.MetricPrefix, err))
	}
	names := map[string]bool{}
	hooks = slices.Clone(hooks)
	for i, h := range hooks {
		completed := *h
		if err := completed.bindings.complete(); err != nil {
			errs = append(errs, fmt.Errorf("hook %q: %w", h.name, err))
		}
		if names[h.name] {
			errs = append(errs, fmt.Errorf("hook %q: another hook has this name", h.name))
		}
		settings := completed.bindings.Settings
		completed.limit = rate.NewLimiter(rate.Every(settings.ExecutionMinInterval.Duration), max(settings.ExecutionBurst, 1))
		completed.own = lru.New(ownVersions)
		hooks[i], names[h.name] = &completed, true
	}
	return hooks, errors.Join(errs...)
}

// runner runs hooks while the process leads. It implements controller.Reconciler, whose keys are queues, and reconciler.LeaderAware.
type runner struct {
	options  Options
	hooks    []*Hook
	ctx      context.Context //nolint:containedctx // the lifetime of the controller
	client   *crud.Client
	recorder record.EventRecorder
	custom   *customMetrics
	measured *instruments
	impl     *controller.Impl

	mu   sync.Mutex
	term *term
}

const ownVersions = 20_000

func (r *runner) queues() map[string]*queue {
	queues := map[string]*queue{mainQueue: {name: mainQueue}}
	for _, h := range r.hooks {
		for _, k := range h.bindings.Kubernetes {
			queues[k.Queue] = &queue{name: k.Queue}
		}
		for _, s := range h.bindings.Schedule {
			queues[s.Queue] = &queue{name: s.Queue}
		}
	}
	return queues
}

// keyOf returns the key of a queue, whose name may have a slash.
func keyOf(queue string) types.NamespacedName {
	return types.NamespacedName{Name: url.PathEscape(queue)}
}

// Promote implements reconciler.LeaderAware.
func (r *runner) Promote(b reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
	if !b.Has(keyOf(mainQueue)) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.term != nil {
		return nil // without an election, knative.dev/pkg promotes twice
	}
	r.term = newTerm(r)
	r.term.start()
	return nil
}

// Demote implements reconciler.LeaderAware.
func (r *runner) Demote(b reconciler.Bucket) {
	if !b.Has(keyOf(mainQueue)) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.term != nil {
		r.term.cancel()
		r.term.schedule.Stop()
		r.custom.reset()
		r.term = nil
	}
}

// Reconcile implements controller.Reconciler. It executes the next task of a queue, and enqueues the queue again.
func (r *runner) Reconcile(ctx context.Context, key string) error {
	name, err := url.PathUnescape(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("parsing the key: %w", err))
	}
	r.mu.Lock()
	t := r.term
	r.mu.Unlock()
	if t == nil || t.isOver() || t.queues[name] == nil {
		return nil
	}
	q := t.queues[name]
	due, wait := t.next(q)
	if due != nil {
		t.run(ctx, q, due)
		r.impl.EnqueueKey(keyOf(q.name))
	} else if wait > 0 {
		r.impl.EnqueueKeyAfter(keyOf(q.name), wait)
	}
	return nil
}
