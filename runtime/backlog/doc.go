/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package backlog holds keys that are not urgent until the queue is short, so that an object that has just changed does not wait
// behind them: all objects after a promotion, a ConfigMap change or a resync.
//
// The slow lane of knative.dev/pkg does not achieve this: it moves its keys into the same FIFO queue as all others at once.
package backlog
