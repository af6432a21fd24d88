/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config reads the operator's own ConfigMaps.
//
// A Store carries their content through contexts, for the webhook's defaulting and for the reconcilers alike.
//
// It watches nothing itself: the process passes its ConfigMap watcher to the constructors. Package strict has the checks of
// keys and values.
package config
