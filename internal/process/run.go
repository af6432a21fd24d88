/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/internal/operatorconfig"
)

// cachesSynced is the readiness condition that Run itself keeps.
const cachesSynced = "informer caches are not filled yet"

// unlimited turns client-go's own rate limit off and leaves it to the API
// server's priority and fairness, which knows what else is going on. sharedmain
// would otherwise set 5 requests a second for each constructor; its flags
// refuse a negative value, its code takes one.
const unlimited = -1

// checkTimeout bounds how long a start waits for what only makes its messages better.
const checkTimeout = 5 * time.Second

// Run runs the controllers and webhooks of a binary until ctx ends. It is
// sharedmain with two differences: no client-side rate limit unless a flag asks
// for one, and probes on a port of one's choice, where sharedmain has 8080 for
// every process. There has to be at least one constructor.
func Run(ctx context.Context, component string, settings Settings, ctors ...injection.ControllerConstructor) {
	cfg := injection.ParseAndGetRESTConfigOrDie()
	if cfg.QPS == 0 {
		cfg.QPS = unlimited
	}

	readiness := &Readiness{}
	readiness.Set(cachesSynced, false)
	ctx = context.WithValue(sharedmain.WithHealthProbesDisabled(ctx), readinessKey{}, readiness)

	listener := mustListen(ctx, component, "HEALTH_PORT", settings.HealthPort)
	MustBeFree(ctx, component, "PROFILING_PORT", settings.ProfilingPort)
	if err := checkConfigMaps(ctx, cfg, string(settings.Namespace)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", component, err)
		os.Exit(1)
	}
	server := &http.Server{Handler: probes(ctx, readiness), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			logging.FromContext(ctx).Errorw("The server of the probes ended", "error", err)
		}
	}()
	defer func() { _ = server.Close() }()

	ctors = slices.Clone(ctors)
	ctors[0] = whenCachesSynced(readiness, ctors[0])
	sharedmain.MainWithConfig(ctx, component, cfg, ctors...)
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
// to read. What that one says names neither the config map nor always the key.
// Where a config map cannot be read, the outcome is left to sharedmain: some need
// not exist, and an API server that is not there yet is asked again.
func checkConfigMaps(ctx context.Context, cfg *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("making a client to read the config maps: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, name := range slices.Sorted(maps.Keys(operatorconfig.Parsers())) {
		cm, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil
		}
		if err := operatorconfig.Check(cm); err != nil {
			return err
		}
	}
	return nil
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
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), synced...) {
				readiness.Set(cachesSynced, true)
			}
		}()
		return ctor(ctx, cmw)
	}
}
