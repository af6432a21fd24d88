/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The webhook defaults and validates objects at admission, sets the environment variables of AddressBindings, and converts between
// versions. Its permissions are in config/200-webhook-roles.yaml and, for each kind, in config/200-KIND-roles.yaml. config/webhook.yaml
// deploys it.
package main

import (
	"time"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/signals"
	knativewebhook "knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/runtime/process"
)

type settings struct {
	process.Settings

	Name        process.Label    `envconfig:"WEBHOOK_NAME" default:"webhook" desc:"name of the Service through which the API server reaches the webhook"`
	Port        process.Port     `envconfig:"WEBHOOK_PORT" default:"8443" desc:"port that serves admission and conversion requests"`
	SecretName  process.Name     `envconfig:"WEBHOOK_SECRET_NAME" default:"webhook-certs" desc:"name of the Secret that holds the serving certificate"`
	GracePeriod process.Duration `envconfig:"WEBHOOK_GRACE_PERIOD" default:"5s" desc:"how long the process serves requests after it has received SIGTERM"`
}

func main() {
	var s settings
	process.MustLoad("webhook",
		"defaults, validates and converts objects of samples.knative.dev, sets environment variables of AddressBindings, validates ConfigMaps", &s)
	ctx := knativewebhook.WithOptions(signals.NewContext(), knativewebhook.Options{
		ServiceName: string(s.Name),
		SecretName:  string(s.SecretName),
		Port:        int(s.Port),
		GracePeriod: time.Duration(s.GracePeriod),
	})
	parsers := process.NewParsers(config.Parsers, config.Components...)
	process.Run(ctx, process.Process{
		Component: "webhook",
		Settings:  s.Settings,
		Parsers:   parsers,
		Controllers: []injection.ControllerConstructor{
			webhook.NewCertificateController,
			webhook.NewDefaultingController,
			webhook.NewValidationController,
			webhook.NewConfigValidationController(parsers),
			webhook.NewConversionController,
			webhook.NewBindingController,
		},
		Serve: webhook.Serve,
		Ports: map[string]process.Port{"WEBHOOK_PORT": s.Port},
		// It reconciles a handful of objects: the certificate and the configurations that trust it.
		OneLeader: true,
	})
}
