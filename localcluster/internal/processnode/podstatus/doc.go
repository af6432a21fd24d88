/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package podstatus makes the status of a Pod out of the states of its containers, as a kubelet does. It only computes:
// what the states are, and when a status is written, is decided elsewhere.
package podstatus
