/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package signals catches the signals that stop a cluster, from the first moment on that a Go program can. Initializing
// the packages of Kubernetes takes a tenth of a second and more, in which an interrupt would still kill the process as if
// nothing were set up; Go initializes this package among the first, because it needs next to nothing. It does so for the
// command that runs a cluster only: the others end at once, as any program does.
//
// It decides nothing about how a cluster stops.
package signals
