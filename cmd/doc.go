/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cmd holds the operator's programs in its folders. Its own tests check what the programs have in common: what they print for a port that is
// taken, that their environment variables are documented, and that the ConfigMaps of config/ are those they read.
package cmd
