/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook converts Backups between their versions. Admission, certificates and the process itself are as in any
// project that uses knative.dev/pkg, and not shown here.
package webhook
