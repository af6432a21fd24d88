/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
)

// cachesSynced is the readiness condition that Run itself keeps.
const cachesSynced = "informer caches are not filled yet"

// unlimited turns client-go's own rate limit off and leaves it to the API
// server's priority and fairness, which knows what else is going on. sharedmain
// would otherwise set 5 requests a second for each constructor; its flags
// refuse a negative value, its code takes one.
const unlimited = -1

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

	listener, err := net.Listen("tcp", ":"+strconv.Itoa(int(settings.HealthPort)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: environment variable HEALTH_PORT=%d: %v\n", component, settings.HealthPort, err)
		os.Exit(1)
	}
	server := &http.Server{Handler: probes(ctx, readiness), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			logging.FromContext(ctx).Errorw("The server of the probes ended", "error", err)
		}
	}()
	defer server.Close()

	ctors = slices.Clone(ctors)
	ctors[0] = whenCachesSynced(readiness, ctors[0])
	sharedmain.MainWithConfig(ctx, component, cfg, ctors...)
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
