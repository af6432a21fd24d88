/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The webhook defaults, validates and converts the samples, and sets the environment variables of AddressBindings at admission.
package main

import (
	"os"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/signals"
	knativewebhook "knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/hardening/certificates"
	"github.com/mallard-dev/mallard/pkg/configuration"
	"github.com/mallard-dev/mallard/pkg/webhook"
)

func main() {
	ctx := knativewebhook.WithOptions(injection.WithNamespaceScope(signals.NewContext(), os.Getenv("WATCH_NAMESPACE")), knativewebhook.Options{
		ServiceName: knativewebhook.NameFromEnv(),
		SecretName:  knativewebhook.SecretNameFromEnv("webhook-certs"),
		Port:        knativewebhook.PortFromEnv(8443),
	})
	// With the constructors alone, and with knative.dev/pkg's certificates, it is a plain Knative webhook.
	sharedmain.WebhookMainWithContext(ctx, "webhook", hardening.Parsers(configuration.AtStart()).Constructors(
		certificates.NewController,
		webhook.NewDefaultingController,
		webhook.NewValidationController,
		webhook.NewConfigValidationController,
		webhook.NewConversionController,
		webhook.NewBindingController,
	)...)
	hardening.Exit()
}
