/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package test runs the real program, as a user or a harness does, and looks at what it serves and at what it leaves. It
// holds tests only; those of a single part are next to that part.
package test
