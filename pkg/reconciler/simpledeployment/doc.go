/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simpledeployment reconciles SimpleDeployments: it keeps as many Pods of an image ready as are asked for, and
// replaces them one by one when the image or a variable changes.
//
// One pass looks at the Pods that the object controls, decides, acts, and says how far it is:
//
//	observe (observe.go)  which Pods are there?          cache of Pods, by controller UID
//	plan    (plan.go)     what is to go, what to come?   pure
//	act     (act.go)      delete, then create
//	report  (report.go)   counts and conditions
//
// A Pod goes through these classes, as plan.go counts them:
//
//	 create              Ready             spec changes, or fewer are asked for
//	───────► not ready ─────────► ready ───────────────────────────────► terminating ──► gone
//	             │                  │    once enough others are ready          ▲
//	             └────────┬─────────┘                                          │
//	                      ▼ evicted, or ended                                  │
//	                  finished ────────────────────────────────────────────────┘
//	                              after a while, so that a Pod which ends at once is not replaced at once
//
// Only the first two count. Of these there is at most one more than asked for while Pods are replaced (or as many as
// there were, while there are fewer to be), and none that is ready is deleted unless enough others are.
//
// Three things keep this true although caches are late and processes die. Names: a Pod has a slot, a small number, in its
// name (names.go), and is created only if nothing has that name (apply.go), so that no retry makes a second one. UIDs: a
// deletion says which Pod it means. And freshness.Children: no pass begins on a cache that lacks what the one before it wrote.
// What that does not cover stands under Limits in docs/spec/simpledeployment.md.
//
// A Pod is ours if its controller reference says so, by UID. Labels say nothing: they are only how the cache is kept from holding
// Pods that are not ours.
//
// Scheduling and running Pods is not its job, nor is remembering earlier revisions to go back to.
package simpledeployment
