/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config reads the ConfigMap config-addressable and carries it through
// contexts, for the webhook's defaulting and for the reconciler alike.
//
// It does not watch anything itself (sharedmain's ConfigMap watcher does), and
// it holds no process settings: those are environment variables of the
// binaries.
package config
