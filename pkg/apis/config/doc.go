/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config reads the operator's own ConfigMaps. A Store carries their content through contexts, for the webhook's
// defaulting and for the reconcilers alike.
//
// It watches nothing itself, since sharedmain's ConfigMap watcher does, and it holds no process settings, which are
// environment variables of the binaries.
package config
