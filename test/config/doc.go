/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config tests the effects of ConfigMaps: of config-addressable on objects that exist, and of config-logging on processes that run. Its
// tests run one after the other, since each changes what all objects depend on.
package config
