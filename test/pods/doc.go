/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pods holds the suite of the operator as it runs in a cluster: from images, in Pods, two of each, as config/
// says. Pods are deleted and killed, scaled and restarted under load, and requests of users during that have to succeed.
//
// What one process does by itself is for the suites that run processes; those are quicker.
package pods
