/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package knative

import "context"

type convertingKey struct{}

// WithConverting marks a context as that of a conversion. It is for the context decorator of
// knative.dev/pkg's conversion controller, which calls SetDefaults on every object that it has converted.
func WithConverting(ctx context.Context) context.Context {
	return context.WithValue(ctx, convertingKey{}, true)
}

// IsConverting reports whether SetDefaults is called by a conversion and has to leave the object alone: what is absent before
// a conversion is absent after it.
func IsConverting(ctx context.Context) bool {
	return ctx.Value(convertingKey{}) != nil
}
