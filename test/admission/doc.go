/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package admission tests admission at every version: each bound of the schema and each rule of the webhook with a rejected value and the nearest
// admitted one, defaults, warnings, and the ConfigMaps that the webhook validates.
package admission
