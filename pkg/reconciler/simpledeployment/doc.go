/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simpledeployment reconciles SimpleDeployments: it keeps as many Pods of an image ready as are desired, and
// replaces them one by one when the image or a variable changes.
//
// One reconciliation looks at the Pods that the object controls, decides (plan.go, pure), acts, and reports the progress (simpledeployment.go);
// pods.go says which Pods are the object's, and how they are made.
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
// The first two are active. Their number exceeds the desired one by at most one while Pods are replaced (or as many as there
// were, while fewer are desired), and none that is ready is deleted unless enough others are.
//
// Two things keep this true although caches are late, processes die, and several may believe that they lead. Names: a Pod has a slot, a small
// number, in its name, and there are as many slots as Pods may exist, so that the API server rejects each Pod too many. Preconditions:
// a deletion has the UID and the version of the Pod that the plan was about. See Limits in docs/reference/api/simpledeployment.md
// for what these do not cover.
package simpledeployment
