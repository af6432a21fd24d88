/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Webhook is the webhook without package hardening, with the certificates of knative.dev/pkg.
package main

import (
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/signals"
	knativewebhook "knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/certificates"

	"github.com/mallard-dev/mallard/pkg/webhook"
)

func main() {
	ctx := knativewebhook.WithOptions(sharedmain.WithHealthProbesDisabled(signals.NewContext()), webhook.Options())
	sharedmain.WebhookMainWithContext(ctx, "webhook",
		certificates.NewController, webhook.NewDefaultingController, webhook.NewValidationController,
		webhook.NewConfigValidationController, webhook.NewConversionController, webhook.NewBindingController)
}
