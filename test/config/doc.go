/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config holds the suite of what the ConfigMap config-addressable does to
// objects that exist. Its tests run one after the other, since each changes what
// all objects depend on.
//
// The suite of admission tests which ConfigMaps are rejected.
package config
