/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simpledeployment reconciles SimpleDeployments: it keeps as many Pods of an image ready as are desired, and
// replaces them one by one when the image or a variable changes.
//
// One reconciliation looks at the Pods that the object controls, decides, acts, and reports the progress:
//
//	observe (observe.go)  which Pods exist?             cache of Pods, by controller UID
//	plan    (plan.go)     what to delete, to create?    pure
//	act     (act.go)      delete, then create
//	report  (report.go)   counts and conditions
//
// A Pod passes these classes, as plan.go counts them:
//
//	 create              Ready             spec changes, or fewer are desired
//	───────► not ready ─────────► ready ───────────────────────────────► terminating ──► gone
//	             │                  │    once enough others are ready          ▲
//	             └────────┬─────────┘                                          │
//	                      ▼ evicted, or ended                                  │
//	                  finished ────────────────────────────────────────────────┘
//	                              after a while, so that a Pod which ends at once is not replaced at once
//
// Only the first two count. Their number exceeds the desired one by at most one while Pods are replaced (or as many as there
// were, while fewer are desired), and none that is ready is deleted unless enough others are.
//
// Three things keep this true although caches are late and processes die. Names: a Pod has a slot, a small number, in its
// name (names.go), and is created only if no Pod has that name (apply.go), so that no retry creates a second one. UIDs: a
// deletion has the Pod's UID as a precondition. And expectations: no reconciliation starts on a cache that lacks the writes
// of the previous one. See Limits in docs/reference/api/simpledeployment.md for what these do not cover.
//
// A Pod counts if both its controller reference and its label contain the object's UID (owner.go). Without the label it would not
// be in the cache, so a Pod that loses one of the two is released and replaced.
package simpledeployment
