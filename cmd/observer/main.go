/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The observer calls the observers that its imports register. optional/observer.yaml deploys it, and optional/200-observer.yaml has its permissions.
package main

import (
	"os"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/signals"

	_ "github.com/mallard-dev/mallard/cmd/observer/secretaudit"
	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/observe"
)

func main() {
	ctx := injection.WithNamespaceScope(signals.NewContext(), os.Getenv("WATCH_NAMESPACE"))
	sharedmain.MainWithContext(ctx, "observer", hardening.Constructors(observe.Constructors()...)...)
	hardening.Exit()
}
