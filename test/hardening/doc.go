/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package hardening shows what package hardening does for a controller that is written with knative.dev/pkg alone, on the local control plane:
// each fault with its concern switched off, and the remedy with it on. With the build tag peers it does so for controllers of others, whose mains it
// changes in a copy.
package hardening
