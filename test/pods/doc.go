/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pods holds the suite of the operator as it runs in a cluster: from images, in Pods, two of each, as config/
// says. Pods are deleted and killed, scaled and restarted under load, and requests of users during that have to succeed.
//
// Suites that run processes test the behavior of a single process; they are faster.
package pods
