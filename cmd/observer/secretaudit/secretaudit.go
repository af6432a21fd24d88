/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package secretaudit

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

var secrets = observe.Metadata(corev1.SchemeGroupVersion.WithResource("secrets"), observe.Labels(samples.GroupName+"/audit"))

func init() { observe.Register("secret-audit", secrets, audit) }

// audit is called with each change. Secrets that exist when the process begins to lead have not changed.
func audit(ctx context.Context, e observe.Event[*metav1.PartialObjectMetadata]) error {
	if e.InInitialList {
		return nil
	}
	changes, err := otel.Meter("github.com/mallard-dev/mallard/cmd/observer/secretaudit").Int64Counter("secret.changes", metric.WithUnit("{change}"))
	if err != nil {
		return fmt.Errorf("making the counter of changes: %w", err)
	}
	changes.Add(ctx, 1, metric.WithAttributes(attribute.String("type", string(e.Type))))
	logging.FromContext(ctx).Infow("A Secret changed", "type", string(e.Type), "secret", e.Name.String(), "resourceVersion", e.Object.ResourceVersion)
	return nil
}
