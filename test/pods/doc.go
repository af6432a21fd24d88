/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pods tests the operator as it runs in a cluster: from images, in Pods, two of each, as config/ defines. Pods are deleted and killed,
// scaled and restarted under load, and requests of users succeed during that.
package pods
