/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"context"
	"math"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/crud"
)

// term is the time during which the process leads. Each begins with all objects.
type term struct {
	*runner

	// ctx ends with the term, or at SIGTERM.
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelFunc

	mu       sync.Mutex
	queues   map[string]*queue
	pending  sets.Set[trigger] // of tasks that have not started
	writing  map[*Hook]int     // the number of queues in which operations of the hook run
	failures workqueue.TypedRateLimiter[*task]

	monitors map[*Hook][]*monitor
	schedule *cron.Cron
}

func newTerm(r *runner) *term {
	t := &term{
		runner: r, queues: r.queues(), pending: sets.New[trigger](), writing: map[*Hook]int{},
		failures: workqueue.NewTypedItemExponentialFailureRateLimiter[*task](r.options.RetryDelay, r.options.MaxRetryDelay),
		monitors: map[*Hook][]*monitor{}, schedule: cron.New(cron.WithParser(crontabs)),
	}
	// The context of a process may outlive SIGTERM, until the runs under way have ended.
	t.ctx, t.cancel = signal.NotifyContext(r.ctx, os.Interrupt, syscall.SIGTERM)
	for _, h := range r.hooks {
		for i := range h.bindings.Kubernetes {
			m := newMonitor(r.ctx, h, &h.bindings.Kubernetes[i])
			m.changed = func(name cache.ObjectName) { t.enqueue(trigger{h, TypeEvent, &m.Common, m, name}) }
			t.monitors[h] = append(t.monitors[h], m)
		}
	}
	return t
}

// start has the hooks with onStartup run, and the bindings of the others begin.
func (t *term) start() {
	hooks := slices.Clone(t.hooks)
	slices.SortStableFunc(hooks, func(a, b *Hook) int {
		return cmp.Or(cmp.Compare(ptr.Deref(a.bindings.OnStartup, 0), ptr.Deref(b.bindings.OnStartup, 0)), cmp.Compare(a.name, b.name))
	})
	for _, h := range hooks {
		if h.bindings.OnStartup != nil {
			t.enqueue(trigger{hook: h, common: startup})
		} else {
			t.beginBindings(h)
		}
	}
	t.schedule.Start()
}

// beginBindings begins the schedules of a hook, and has it run with the objects of its other bindings once they are known. It is called once.
func (t *term) beginBindings(h *Hook) {
	for i := range h.bindings.Schedule {
		s := &h.bindings.Schedule[i]
		times, _ := crontabs.Parse(s.Crontab) // checked
		t.schedule.Schedule(times, cron.FuncJob(func() { t.enqueue(trigger{hook: h, kind: TypeSchedule, common: &s.Common}) }))
	}
	go func() {
		if !awaitObjects(t.ctx, t.client, t.monitors[h]) {
			return
		}
		var all []trigger // at once, so that they are the same tasks each time
		for _, m := range t.monitors[h] {
			if m.ExecuteHookOnSynchronization == nil || *m.ExecuteHookOnSynchronization {
				all = append(all, trigger{hook: h, kind: TypeSynchronization, common: &m.Common, monitor: m})
			} else {
				m.enable(m.states())
			}
		}
		t.enqueue(all...)
	}()
}

const syncPoll = 20 * time.Millisecond

// awaitObjects starts monitors, and waits until they have the objects that exist, or ctx ends. It retries until the kinds are served.
func awaitObjects(ctx context.Context, client *crud.Client, monitors []*monitor) bool {
	delays := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: math.MaxInt32, Cap: 30 * time.Second}
	for _, m := range monitors {
		_ = delays.DelayFunc().Until(ctx, true, true, func(context.Context) (bool, error) {
			err := m.start(ctx, client)
			if err != nil {
				m.logger.Errorw("A binding waits for its objects", "error", err)
			}
			return err == nil, nil
		})
	}
	return wait.PollUntilContextCancel(ctx, syncPoll, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(monitors, func(m *monitor) bool { return !m.hasSynced() }), nil
	}) == nil
}

func (t *term) isOver() bool { return t.ctx.Err() != nil }

func loggerOf(ctx context.Context, h *Hook, binding, queue string) *zap.SugaredLogger {
	return logging.FromContext(ctx).Named("hooks").With("hook", h.name, "binding", binding, "queue", queue)
}
