/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/internal/operatorconfig"
	"github.com/mallard-dev/mallard/runtime/leader"
)

// The readiness conditions that Run itself keeps. Only the first answer about leases
// counts: later, an unready webhook would do more harm than one that leads nothing.
const (
	cachesSynced  = "informer caches are not filled yet"
	leasesReached = "leases have not been read yet"
)

// unlimited turns client-go's own rate limit off and leaves it to the API
// server's priority and fairness, which knows what else is going on. sharedmain
// would otherwise set 5 requests a second for each constructor; its flags
// refuse a negative value, its code takes one.
const unlimited = -1

// How long and how often a start tries to reach the API server, as sharedmain does.
const (
	retryTimeout = 5 * time.Second
	retryPeriod  = 500 * time.Millisecond
)

// Run runs the controllers and webhooks of a binary until ctx ends. It is
// sharedmain with six differences: no client-side rate limit unless a flag asks
// for one; probes on a port of one's choice, where sharedmain has 8080 for every
// process; leader election as runtime/leader has it; informers for one namespace if
// the settings name one; what package telemetry tells; and an end with one line that says
// why when a port is taken, a config map is bad, or the API server cannot be reached.
// There has to be at least one constructor.
func Run(ctx context.Context, component string, settings Settings, ctors ...injection.ControllerConstructor) {
	if err := runAll(ctx, component, settings, ctors); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", component, err)
		os.Exit(1)
	}
}

func runAll(ctx context.Context, component string, settings Settings, ctors []injection.ControllerConstructor) error {
	cfg := injection.ParseAndGetRESTConfigOrDie()
	if cfg.QPS == 0 {
		cfg.QPS = unlimited
	}
	// The generated reconcilers repeat a status update that meets a conflict, with the live object. If that one does, too, the
	// back-off of package problem decides: client-go would send five requests at once, every time.
	retry.DefaultRetry.Steps = 2

	readiness := &Readiness{}
	readiness.Set(cachesSynced, false)
	readiness.Set(leasesReached, false)
	ctx = context.WithValue(sharedmain.WithHealthProbesDisabled(ctx), readinessKey{}, readiness)

	listener := mustListen(ctx, component, "HEALTH_PORT", settings.HealthPort)
	MustBeFree(ctx, component, "PROFILING_PORT", settings.ProfilingPort)
	MustBeFree(ctx, component, "METRICS_PROMETHEUS_PORT", settings.MetricsPort)
	lead, configMaps, err := newLeader(ctx, cfg, component, settings, readiness)
	if err == nil {
		ctors, err = withTelemetry(cfg, readiness, configMaps, ctors)
	}
	if err != nil {
		return err
	}
	server := &http.Server{Handler: probes(ctx, readiness), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			logging.FromContext(ctx).Errorw("The server of the probes ended", "error", err)
		}
	}()
	defer func() { _ = server.Close() }()

	for i, ctor := range ctors {
		ctors[i] = lead.Lead(ctor)
	}
	ctors[0] = whenCachesSynced(readiness, ctors[0])
	if namespace := string(settings.WatchNamespace); namespace != "" {
		ctx = injection.WithNamespaceScope(ctx, namespace)
	}
	ctx, cancel := context.WithCancel(ctx)
	var leading sync.WaitGroup
	leading.Go(func() { lead.Run(ctx) })
	sharedmain.MainWithConfig(sharedmain.WithHADisabled(ctx), component, cfg, ctors...)
	cancel()
	if wait, ok := ctx.Value(lastKey{}).(func()); ok {
		wait()
	}
	leading.Wait()
	return nil
}

type lastKey struct{}

// WithLast has Run wait for something else before it returns, while its probes are still
// answered. It must not wait for longer than the process may take to end.
func WithLast(ctx context.Context, wait func()) context.Context {
	return context.WithValue(ctx, lastKey{}, wait)
}

// newLeader checks the config maps, for one of them has the times of the leases, and
// returns the names of those that there are too.
func newLeader(
	ctx context.Context, cfg *rest.Config, component string, settings Settings, readiness *Readiness,
) (*leader.Leader, []string, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for config maps and leases: %w", err)
	}
	list, err := listConfigMaps(ctx, client, cfg.Host, string(settings.Namespace))
	if err != nil {
		return nil, nil, err
	}
	times, names, err := checkConfigMaps(list)
	if err != nil {
		return nil, nil, err
	}
	identity, err := leader.Identity(settings.PodName, settings.PodUID)
	if err != nil {
		return nil, nil, fmt.Errorf("choosing an identity: %w", err)
	}
	if settings.OneLeader {
		times.Buckets = 1
	}
	return leader.New(leader.Options{
		Leases:    client.CoordinationV1().Leases(string(settings.Namespace)),
		Component: component, Identity: identity, Times: times,
		Reached: func() { readiness.Set(leasesReached, true) },
	}), names, nil
}

// MustBeFree ends the process with one line that names the variable if its port is
// taken. sharedmain would only log that a server cannot listen, and let the
// process go on without it, ready as if nothing were amiss.
func MustBeFree(ctx context.Context, component, variable string, port Port) {
	_ = mustListen(ctx, component, variable, port).Close()
}

func mustListen(ctx context.Context, component, variable string, port Port) net.Listener {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+strconv.Itoa(int(port)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: environment variable %s=%d: %v\n", component, variable, port, err)
		os.Exit(1)
	}
	return listener
}

// checkConfigMaps returns what is wrong with the config maps that sharedmain is about
// to read, and else what they say of leases, and the names of those that there are. What
// sharedmain says names neither the config map, nor always the key. One that does not
// exist is left to it, for not all have to.
func checkConfigMaps(list *corev1.ConfigMapList) (*leaderelection.Config, []string, error) {
	parsers := operatorconfig.Parsers()
	var times *corev1.ConfigMap
	var names []string
	for i := range list.Items {
		cm := &list.Items[i]
		if err := operatorconfig.Check(cm); err != nil {
			return nil, nil, err
		}
		if _, ok := parsers[cm.Name]; ok {
			names = append(names, cm.Name)
		}
		if cm.Name == leaderelection.ConfigMapName() {
			times = cm
		}
	}
	parsed, err := leaderelection.NewConfigFromConfigMap(times)
	return parsed, names, err //nolint:wrapcheck // checked above; without one there are defaults
}

// listConfigMaps tries for a while, because the network of a new Pod may need a moment.
func listConfigMaps(ctx context.Context, client kubernetes.Interface, host, namespace string) (*corev1.ConfigMapList, error) {
	var list *corev1.ConfigMapList
	var last error
	err := wait.PollUntilContextTimeout(ctx, retryPeriod, retryTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		if list, err = client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{}); err != nil && ctx.Err() == nil {
			// What the deadline interrupts says nothing.
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the config maps of namespace %s from the API server %s: %w", namespace, host, cmp.Or(last, err))
	}
	return list, nil
}

// whenCachesSynced makes the process ready once the informers that injection
// started have filled their caches. sharedmain does not tell when that is, and the
// informers are in the context that it gives to constructors, so this is wrapped around one.
func whenCachesSynced(readiness *Readiness, ctor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		var synced []cache.InformerSynced
		for _, inject := range injection.Default.GetInformers() {
			// Injecting once more gives the informer that there is: factories share them.
			_, informer := inject(ctx)
			synced = append(synced, informer.HasSynced)
		}
		for _, inject := range injection.Default.GetFilteredInformers() {
			_, informers := inject(ctx)
			for _, informer := range informers {
				synced = append(synced, informer.HasSynced)
			}
		}
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), synced...) {
				readiness.Set(cachesSynced, true)
			}
		}()
		return ctor(ctx, cmw)
	}
}
