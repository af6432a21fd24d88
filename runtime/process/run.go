/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/zapr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	observability "knative.dev/pkg/observability/configmap"
	k8sruntime "knative.dev/pkg/observability/runtime/k8s"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/leader"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// The readiness conditions that Run itself keeps. Only the first response about leases
// counts: later, an unready webhook would do more harm than one that leads nothing.
const (
	cachesSynced  = "informer caches are not filled yet"
	leasesReached = "leases have not been read yet"
)

const (
	// startTimeout bounds how long a start tries to reach the API server, as in sharedmain: the network of a new Pod may need a moment.
	startTimeout = 5 * time.Second
	// drainTimeout bounds how long the end waits for observers to receive what is in their queues.
	drainTimeout = 10 * time.Second
	// stuckTimeout bounds how long the end waits for the other parts, such as the release of the leases, if an observer is stuck.
	stuckTimeout = 5 * time.Second
	// flushTimeout bounds how long the end waits for metrics and spans to be exported, as in sharedmain.
	flushTimeout = 10 * time.Second
)

// Process is the program of one binary. Serve, Ports, OneLeader and Prepare are optional.
type Process struct {
	// Component names the process in logs, metrics and leases, and its log level in config-logging.
	Component string
	Settings  Settings
	// Parsers check the ConfigMaps; see [NewParsers].
	Parsers Parsers
	// Controllers construct the controllers and webhooks. All run in every replica, and the reconcilers must be leader-aware. The observers
	// of the packages that the process imports are added.
	Controllers []injection.ControllerConstructor
	// Serve serves those that are webhooks until ctx ends and the last request has been answered.
	Serve func(ctx context.Context, webhooks []any) error
	// Ports are further ports that must be free, by their environment variables.
	Ports map[string]Port
	// OneLeader ignores the number of buckets in config-leader-election.
	OneLeader bool
	// Prepare completes the process once the flags have been parsed.
	Prepare func(ctx context.Context, p *Process) error
}

// Run runs a process until it receives SIGTERM. If it cannot start or a part of it fails, it prints one line with the reason,
// and exits with 1.
func Run(ctx context.Context, p Process) {
	if err := p.run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.Component, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

// run does what sharedmain.MainWithConfig does, in the same order and with its parts. What differs: there is no client-side
// rate limit, errors name ports and ConfigMaps, an invalid ConfigMap has no effect, leader election is that of runtime/leader, and webhooks are
// served by p.Serve.
func (p Process) run(ctx context.Context) error {
	// A part that fails ends the others by the context of the group.
	running, ctx := errgroup.WithContext(ctx)

	cfg := injection.ParseAndGetRESTConfigOrDie()
	if err := checkVerbosity(flag.CommandLine); err != nil {
		return err
	}
	if p.Prepare != nil {
		if err := p.Prepare(ctx, &p); err != nil {
			return err
		}
	}
	if cfg.QPS == 0 {
		// No limit: the API server's priority and fairness sees all clients. The flags reject a negative value.
		cfg.QPS = -1
	}
	cfg.Wrap(failures.Transport)
	cfg.Wrap(expectations.Transport)
	cfg.Wrap(telemetry.Transport)
	// The generated reconcilers repeat a status update that meets a conflict, with the live object. If that one does, too, the
	// back-off of package failures decides: client-go would send five requests at once, every time.
	retry.DefaultRetry.Steps = 2

	probesPort, err := p.listen(ctx)
	if err != nil {
		return err
	}
	readiness := &Readiness{missing: []string{cachesSynced, leasesReached}}
	ctx = WithReadiness(ctx, readiness)
	ctx = injection.WithNamespaceScope(ctx, string(p.Settings.WatchNamespace))
	ctx, startInformers := injection.EnableInjectionOrDie(ctx, cfg)
	configMaps, err := p.readConfigMaps(ctx, cfg.Host)
	if err != nil {
		return err
	}

	logger, level := sharedmain.SetupLoggerOrDie(ctx, p.Component)
	defer func() { _ = logger.Sync() }()
	ctx = logging.WithLogger(ctx, logger)
	klog.SetLogger(zapr.NewLogger(logger.Desugar()))
	rest.SetDefaultWarningHandlerWithContext(warnings{logging.WarningHandler{Logger: logger}})
	defer serveProbes(ctx, probesPort, readiness)()
	sharedmain.CheckK8sClientMinimumVersionOrDie(ctx, logger)

	// The first provider of metrics that registers wins, so ours is registered before that of sharedmain.
	telemetry.Register()
	telemetry.ObserveReadiness(readiness.Check)
	profiler := k8sruntime.NewProfilingServer(logger.Named("pprof"))
	metrics, spans := sharedmain.SetupObservabilityOrDie(ctx, p.Component, logger, profiler)
	defer flush(ctx, metrics.Shutdown, spans.Shutdown)

	watcher := sharedmain.SetupConfigMapWatchOrDie(ctx, logger)
	controllers, webhooks := sharedmain.ControllersAndWebhooksFromCtors(ctx, watcher, append(observe.Constructors(), p.Controllers...)...)
	election, err := p.newLeader(ctx, configMaps[leaderelection.ConfigMapName()])
	if err != nil {
		return err
	}
	if err := observe.Complete(ctx, controllers...); err != nil {
		return fmt.Errorf("completing the controllers: %w", err)
	}
	for _, impl := range controllers {
		if err := election.Attach(impl); err != nil {
			return err
		}
	}
	apply := map[string]configmap.Observer{
		logging.ConfigMapName():        logging.UpdateLevelFromConfigMap(logger, level, p.Component),
		observability.Name():           profiler.UpdateFromConfigMap,
		leaderelection.ConfigMapName(): func(*corev1.ConfigMap) {}, // it has been read
	}
	for name := range configMaps {
		watcher.Watch(name, p.Parsers.watch(logger, apply[name]))
	}

	running.Go(func() error {
		if err := profiler.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving profiles: %w", err)
		}
		return nil
	})
	context.AfterFunc(ctx, func() { _ = profiler.Shutdown(context.WithoutCancel(ctx)) })
	// Webhooks depend on ConfigMaps, so these are read first.
	if err := watcher.Start(ctx.Done()); err != nil {
		return fmt.Errorf("watching ConfigMaps: %w", err)
	}
	if p.Serve != nil {
		running.Go(func() error { return p.Serve(ctx, webhooks) })
	}
	startInformers()
	readiness.Set(cachesSynced, true)
	running.Go(func() error { return controller.StartAll(ctx, controllers...) })
	drained := make(chan struct{})
	running.Go(func() error { election.Run(ctx, drained); return nil })
	return end(ctx, drained, running.Wait)
}

// listen takes the port of the probes, and checks that the others are free, since a part that cannot listen would not name the
// environment variable.
func (p Process) listen(ctx context.Context) (probes net.Listener, err error) {
	const health = "HEALTH_PORT"
	ports := map[string]Port{
		health: p.Settings.HealthPort, "PROFILING_PORT": p.Settings.ProfilingPort, "METRICS_PROMETHEUS_PORT": p.Settings.MetricsPort,
	}
	maps.Copy(ports, p.Ports)
	for variable, port := range ports {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+strconv.Itoa(int(port)))
		if err != nil {
			return nil, fmt.Errorf("environment variable %s=%d: %w", variable, port, err)
		}
		if variable == health {
			probes = listener
		} else {
			_ = listener.Close()
		}
	}
	return probes, nil
}

// readConfigMaps returns the ConfigMaps that exist of those that the process reads, or what is wrong with one. The errors of
// sharedmain name neither the ConfigMap, nor always the key.
func (p Process) readConfigMaps(ctx context.Context, host string) (map[string]*corev1.ConfigMap, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	configMaps := kubeclient.Get(ctx).CoreV1().ConfigMaps(string(p.Settings.Namespace))
	backoff := wait.Backoff{Duration: startTimeout / 10, Steps: 10}
	var list *corev1.ConfigMapList
	err := retry.OnError(backoff, func(error) bool { return ctx.Err() == nil }, func() (err error) {
		list, err = configMaps.List(ctx, metav1.ListOptions{})
		return err //nolint:wrapcheck // the last one is wrapped below
	})
	if err != nil {
		return nil, fmt.Errorf("reading the ConfigMaps of namespace %s from the API server %s: %w", p.Settings.Namespace, host, err)
	}
	found := map[string]*corev1.ConfigMap{}
	for i := range list.Items {
		cm := &list.Items[i]
		if p.Parsers[cm.Name] == nil {
			continue
		}
		if err := p.Parsers.Check(cm); err != nil {
			return nil, err
		}
		found[cm.Name] = cm
	}
	return found, nil
}

// newLeader takes the ConfigMap of leader election, which has been checked, or nil for the defaults.
func (p Process) newLeader(ctx context.Context, cm *corev1.ConfigMap) (*leader.Leader, error) {
	times, err := leaderelection.NewConfigFromConfigMap(cm)
	if err != nil {
		return nil, fmt.Errorf("reading the ConfigMap of leader election: %w", err)
	}
	if p.OneLeader {
		times.Buckets = 1
	}
	return leader.New(leader.Options{
		Leases:    kubeclient.Get(ctx).CoordinationV1().Leases(string(p.Settings.Namespace)),
		Component: p.Component, Identity: p.Settings.identity(), Times: times,
		Logger:  logging.FromContext(ctx).Named("leader"),
		Reached: func() { ReadinessFrom(ctx).Set(leasesReached, true) },
	}), nil
}

// end waits until ctx has ended and all parts of the process have. Observers receive what is pending while this process leads, so that no other
// one calls them. Those that have not received it by then do not hold the process: they are in the error.
func end(ctx context.Context, drained chan<- struct{}, wait func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	<-ctx.Done()
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	undelivered := observe.Shutdown(draining)
	close(drained)
	if undelivered == nil {
		return <-ended
	}
	var failure error
	select {
	case failure = <-ended:
	case <-time.After(stuckTimeout):
		// The part that failed first, if one did, has ended the others.
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			failure = cause
		}
	}
	return errors.Join(failure, fmt.Errorf("shutting observers down: %w", undelivered))
}

// flush exports the last metrics and spans.
func flush(ctx context.Context, metrics, spans func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := errors.Join(metrics(ctx), spans(ctx)); err != nil {
		logging.FromContext(ctx).Errorw("Exporting the last metrics or spans failed", "error", err)
	}
}
