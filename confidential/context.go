/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import "context"

type concerns struct{}

// Context marks the requests of a context as ones about confidential objects, so that the handler of warnings of a process does not log their texts.
func Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, concerns{}, true)
}

// Concerns reports whether requests of a context are about confidential objects.
func Concerns(ctx context.Context) bool { return ctx.Value(concerns{}) != nil }
