/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package record reads and writes the file in which a fork records the commit of the template that it was made from, and the arguments of
// make fork.
package record
