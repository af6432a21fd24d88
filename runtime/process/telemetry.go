/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"

	"k8s.io/client-go/rest"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/internal/operatorconfig"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// withTelemetry returns the constructors such that their controllers tell what they do,
// and has the process tell of itself: whether it is ready, what its clients ask, and
// whether its config maps are in force.
func withTelemetry(cfg *rest.Config, readiness *Readiness, configMaps []string, ctors []injection.ControllerConstructor,
) ([]injection.ControllerConstructor, error) {
	if err := telemetry.Register(); err != nil {
		return nil, err
	}
	if err := telemetry.ObserveReadiness(readiness.Check); err != nil {
		return nil, err
	}
	cfg.Wrap(failures.Transport)
	cfg.Wrap(telemetry.Transport)
	wrapped := make([]injection.ControllerConstructor, 0, len(ctors))
	for _, ctor := range ctors {
		wrapped = append(wrapped, telemetry.Constructor(ctor))
	}
	first := wrapped[0]
	wrapped[0] = func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		if err := telemetry.WatchConfigMaps(cmw, configMaps, operatorconfig.Check); err != nil {
			logging.FromContext(ctx).Fatalw("Watching the config maps failed", "error", err)
		}
		return first(ctx, cmw)
	}
	return wrapped, nil
}
