/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	_ "knative.dev/pkg/system/testing" // the namespace of the informer that hooks read their certificate from

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

// observed are the metrics that ofObservers has found. A process can register an observer and a provider of metrics once.
var observed map[string]*dto.MetricFamily

// ofObservers returns the metrics that a process exports because of an observer, operations or a hook that answers reviews. The processes of the
// operator have none.
func ofObservers(t *testing.T, env *harness.Env) map[string]*dto.MetricFamily {
	t.Helper()
	if observed != nil {
		return observed
	}
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)))

	namespaces := observe.Metadata(corev1.SchemeGroupVersion.WithResource("namespaces"), observe.Fields("metadata.name=default"))
	observe.Register("documented", namespaces, func(context.Context, observe.Event[*metav1.PartialObjectMetadata]) error {
		return nil
	}, observe.Options[*metav1.PartialObjectMetadata]{Scope: observe.EveryReplica})
	ctx, informers := injection.Default.SetupInformers(injection.WithConfig(t.Context(), env.Config), env.Config)
	var controllers []*controller.Impl
	for _, construct := range observe.Constructors() {
		controllers = append(controllers, construct(ctx, nil))
	}
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	go func() { _ = controller.StartAll(ctx, controllers...) }()

	operate(t, env)
	review(ctx, t)
	families := map[string]*dto.MetricFamily{}
	harness.Eventually(t, "the metrics of the observer's call", func(context.Context) error {
		gathered, err := registry.Gather()
		for _, family := range gathered {
			if slices.ContainsFunc([]string{"observer_", "object_", "hook_review"}, func(prefix string) bool { return strings.HasPrefix(family.GetName(), prefix) }) {
				families[family.GetName()] = family
			}
		}
		if families["observer_calls_total"] == nil {
			return errors.New("there are no such metrics")
		}
		return err
	})
	observed = families
	return observed
}
