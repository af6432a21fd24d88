/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package secretaudit is an observer: it logs and counts each change of the Secrets that have the label samples.knative.dev/audit. It receives their
// metadata only, never their data.
//
// A process audits if it imports this package for its side effect, and its account may list and watch Secrets.
package secretaudit
