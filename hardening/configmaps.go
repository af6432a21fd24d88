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
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientleaderelection "k8s.io/client-go/tools/leaderelection"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/observability/configmap"
	"knative.dev/pkg/system"
)

// checkConfigMaps returns an error if a ConfigMap that sharedmain reads at the start is invalid: the errors of most parsers name neither it nor
// the key, and durations that do not go together stop leader election only.
func checkConfigMaps(ctx context.Context) error {
	if os.Getenv(system.NamespaceEnvKey) == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for name, parse := range map[string]func(*corev1.ConfigMap) error{
		logging.ConfigMapName():        onlyError(logging.NewConfigFromConfigMap),
		leaderelection.ConfigMapName(): parseLeaderElection,
		configmap.Name():               onlyError(configmap.Parse),
	} {
		cm, err := kubeclient.Get(ctx).CoreV1().ConfigMaps(system.Namespace()).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			if !apierrors.IsNotFound(err) {
				// Sharedmain tries for 5 s, and then says that the time is over.
				log.Printf("Reading ConfigMap %s/%s: %v", system.Namespace(), name, err)
			}
			continue
		}
		if err := explain(cm, parse); err != nil {
			return err
		}
	}
	return nil
}

// explain returns the error of a parser with the key: the one without which the ConfigMap is valid.
func explain(cm *corev1.ConfigMap, parse func(*corev1.ConfigMap) error) error {
	cause := parse(cm)
	if cause == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		without := cm.DeepCopy()
		delete(without.Data, key)
		if parse(without) == nil {
			return fmt.Errorf("ConfigMap %s/%s: %s: %q: %w", cm.Namespace, cm.Name, key, cm.Data[key], cause)
		}
	}
	return fmt.Errorf("ConfigMap %s/%s: %w", cm.Namespace, cm.Name, cause)
}

func onlyError[T any](parse func(*corev1.ConfigMap) (T, error)) func(*corev1.ConfigMap) error {
	return func(cm *corev1.ConfigMap) error {
		_, err := parse(cm)
		return err
	}
}

func parseLeaderElection(cm *corev1.ConfigMap) error {
	cfg, err := leaderelection.NewConfigFromConfigMap(cm)
	if err == nil && (cfg.LeaseDuration <= cfg.RenewDeadline || float64(cfg.RenewDeadline) <= clientleaderelection.JitterFactor*float64(cfg.RetryPeriod)) {
		return errors.New("lease-duration must be longer than renew-deadline, and that longer than 1.2 times retry-period")
	}
	return err //nolint:wrapcheck // explain does
}
