/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kubectl holds the suite of users of kubectl: its commands behave for the operator's kinds as they do for Kubernetes' own.
// See the suites of the kinds for when an object is Ready, and admission for what is rejected.
package kubectl
