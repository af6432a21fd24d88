/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The webhook serves admission and conversion of the samples. With the certificates of knative.dev/pkg, and no hardening, it is a plain Knative webhook.
package main

import (
	"knative.dev/pkg/injection/sharedmain"
	knativewebhook "knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/hardening/certificates"
	"github.com/mallard-dev/mallard/pkg/configuration"
	"github.com/mallard-dev/mallard/pkg/webhook"
)

func main() {
	ctx := knativewebhook.WithOptions(configuration.NewContext(), webhook.Options())
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
