/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cmd holds the operator's programs in its folders. Its own tests check what the programs have in common: what they print for a bad
// environment variable or a port that is taken, their help and version, and that the ConfigMaps of config/ are those they read.
package cmd
