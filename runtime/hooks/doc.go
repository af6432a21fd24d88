/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package hooks adds the hooks of package crud/hook to a process:
//
//	process.Run(ctx, process.Process{…, Prepare: func(ctx context.Context, p *process.Process) error {
//		return hooks.Add(p, options, webhook, hook.Func(…))
//	}})
//
// If a hook answers admission reviews, the process also serves these, and keeps its certificate and its webhooks in a Secret and in webhook
// configurations. They have to exist. A process of which no hook does needs neither them nor permission to read them: this package observes
// objects of these names alone, and not by the informers that knative.dev/pkg starts in each process that links them.
package hooks
