/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package reconcilertest holds the parts of a reconciler's tests that do not depend on its kind. There are two ways to test a reconciler
// without an API server:
//
//   - One reconciliation by the generated reconciler, with caches and fake clients that the test fills: [Table] for many at once. Such a
//     test sees each request, event and error.
//   - A running controller, as its constructor makes it, on the fake clients of injection: [Run]. Such a test sees which events enqueue
//     which objects.
//
// Fake clients differ from the API server: [StatusOnly] and [Failing] are reactions that correct one difference, and induce failures.
package reconcilertest
