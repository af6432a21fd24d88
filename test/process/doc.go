/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package process tests start and exit of the operator's processes with an API server: readiness, errors at the start, and their state afterwards.
package process
