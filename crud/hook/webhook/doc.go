/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook has a process run hooks and serve their admission reviews:
//
//	ctx, constructors, err := webhook.Constructors(signals.NewContext(), options, settings, hooks...)
//	…
//	sharedmain.MainWithContext(ctx, "hooks", constructors...)
//
// If a hook answers admission reviews, sharedmain serves these by the webhook of knative.dev/pkg, and this package keeps the certificate and the
// webhooks in a Secret and in webhook configurations. They have to exist. A process of which no hook does needs neither them nor permission to read them:
// this package observes objects of these names alone, and not by the informers that knative.dev/pkg starts in each process that links them.
package webhook
