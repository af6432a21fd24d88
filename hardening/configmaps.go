/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientleaderelection "k8s.io/client-go/tools/leaderelection"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/observability"
	observabilityconfigmap "knative.dev/pkg/observability/configmap"
	"knative.dev/pkg/system"
)

// Parsers replace upstream's when a process starts, by the names of ConfigMaps, which their errors contain.
type Parsers map[string]any // as configmap.Constructors

// Constructors is the function of this name, with the parsers.
func (p Parsers) Constructors(constructors ...injection.ControllerConstructor) []injection.ControllerConstructor {
	install().parsers = p
	return Constructors(constructors...)
}

// withConfigMaps returns a context with the configurations that sharedmain reads at the start, except for those that the main has set. An invalid one
// is an error: those of most parsers name neither the ConfigMap nor the key, and durations that do not go together stop leader election only.
func (p Parsers) withConfigMaps(ctx context.Context) (context.Context, error) {
	ctx, loggingErr := withConfigMap(ctx, p, logging.ConfigMapName(), logging.GetConfig, logging.NewConfigFromConfigMap, logging.WithConfig)
	ctx, electionErr := withConfigMap(ctx, p, leaderelection.ConfigMapName(), leaderelection.GetConfig, parseLeaderElection, leaderelection.WithConfig)
	ctx, observabilityErr := withConfigMap(ctx, p, observabilityconfigmap.Name(), observability.GetConfig, observabilityconfigmap.Parse, observability.WithConfig)
	return ctx, errors.Join(loggingErr, electionErr, observabilityErr)
}

// withConfigMap adds the configuration in a ConfigMap to a context that has none. Sharedmain has defaults if there is no ConfigMap, and ends the process
// if one cannot be read, but often with the error of the time limit.
func withConfigMap[T any](
	ctx context.Context, parsers Parsers, name string,
	get func(context.Context) *T, parse func(*corev1.ConfigMap) (*T, error), with func(context.Context, *T) context.Context,
) (context.Context, error) {
	if get(ctx) != nil {
		return ctx, nil
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cm, err := kubeclient.Get(ctx).CoreV1().ConfigMaps(system.Namespace()).Get(limited, name, metav1.GetOptions{})
	if err != nil {
		if !apierrors.IsNotFound(err) {
			log.Printf("Reading ConfigMap %s failed, and is repeated: %v", name, err)
		}
		return ctx, nil
	}
	parsed, err := explain(cm, parse)
	if own, ok := parsers[name].(func(*corev1.ConfigMap) (*T, error)); ok {
		parsed, err = own(cm)
	}
	return with(ctx, parsed), err
}

// explain parses a ConfigMap. Its error has the key without which the ConfigMap is valid.
func explain[T any](cm *corev1.ConfigMap, parse func(*corev1.ConfigMap) (T, error)) (T, error) {
	parsed, cause := parse(cm)
	if cause == nil {
		return parsed, nil
	}
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		without := cm.DeepCopy()
		delete(without.Data, key)
		if _, err := parse(without); err == nil {
			return parsed, fmt.Errorf("ConfigMap %s/%s: %s: %q: %w", cm.Namespace, cm.Name, key, cm.Data[key], cause)
		}
	}
	return parsed, fmt.Errorf("ConfigMap %s/%s: %w", cm.Namespace, cm.Name, cause)
}

func parseLeaderElection(cm *corev1.ConfigMap) (*leaderelection.Config, error) {
	cfg, err := leaderelection.NewConfigFromConfigMap(cm)
	if err == nil && (cfg.LeaseDuration <= cfg.RenewDeadline || float64(cfg.RenewDeadline) <= clientleaderelection.JitterFactor*float64(cfg.RetryPeriod)) {
		return nil, errors.New("lease-duration must be longer than renew-deadline, and that longer than 1.2 times retry-period")
	}
	return cfg, err //nolint:wrapcheck // explain does
}
