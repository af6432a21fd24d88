/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	knativewebhook "knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/configmaps"
	"knative.dev/pkg/webhook/resourcesemantics/conversion"
	"knative.dev/pkg/webhook/resourcesemantics/defaulting"
	"knative.dev/pkg/webhook/resourcesemantics/validation"

	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/configuration"
)

// Names of the webhook configurations in config/500-webhook-configuration.yaml.
const (
	DefaultingName       = "defaulting.webhook." + samples.GroupName
	ValidationName       = "validation.webhook." + samples.GroupName
	ConfigValidationName = "config.webhook." + samples.GroupName
)

// Options returns the Service, the Secret and the port of the webhook, which environment variables name as knative.dev/pkg documents them.
func Options() knativewebhook.Options {
	return knativewebhook.Options{
		ServiceName: knativewebhook.NameFromEnv(),
		SecretName:  knativewebhook.SecretNameFromEnv("webhook-certs"),
		Port:        knativewebhook.PortFromEnv(8443), //nolint:mnd // that of config/webhook.yaml
	}
}

// NewDefaultingController serves the defaults of the samples.
func NewDefaultingController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	// The defaults depend on the ConfigMap config-addressable, whose last valid state each request sees.
	store := config.NewStore(logging.FromContext(ctx).Named("config-store"))
	store.WatchConfigs(cmw)
	return defaulting.NewAdmissionController(ctx, DefaultingName, "/defaulting", admitted(), store.ToContext, false)
}

// NewValidationController serves the validation of the samples.
func NewValidationController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return validation.NewAdmissionController(ctx, ValidationName, "/validation", admitted(), nil, false)
}

// NewConfigValidationController serves the validation of the ConfigMaps in config/.
func NewConfigValidationController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return configmaps.NewAdmissionController(ctx, ConfigValidationName, "/config-validation", configuration.Parsers())
}

// NewConversionController converts objects between the versions of their kind, without setting defaults.
func NewConversionController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return conversion.NewConversionController(ctx, "/conversion", conversions(), knative.WithConverting)
}
