/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Outcome classifies the result of an operation.
type Outcome string

// The outcomes.
const (
	// Created: the object did not exist.
	Created Outcome = "Created"
	// Updated: the API server stored another state.
	Updated Outcome = "Updated"
	// StatusUpdated: the API server stored another status.
	StatusUpdated Outcome = "StatusUpdated"
	// Unchanged: the object was as it should be, so nothing was written.
	Unchanged Outcome = "Unchanged"
	// Replaced: the object was deleted and created again, because a field could not be changed.
	Replaced Outcome = "Replaced"
	// Deleted: the object existed and does not anymore.
	Deleted Outcome = "Deleted"
	// Deleting: the API server has accepted the deletion, and Result.Finalizers delay it.
	Deleting Outcome = "Deleting"
	// AlreadyAbsent: there was nothing to delete.
	AlreadyAbsent Outcome = "AlreadyAbsent"
	// Replayed: the operation was executed before with the same Operation.ID, so nothing was written.
	Replayed Outcome = "Replayed"
	// Skipped: there was nothing to patch, and the operation ignores that.
	Skipped Outcome = "Skipped"
	// Failed: see the error.
	Failed Outcome = "Failed"
	// NotRun: an operation before it in the plan failed.
	NotRun Outcome = "NotRun"
)

// Succeeded reports whether the operation was executed, and did not fail.
func (o Outcome) Succeeded() bool { return o != "" && o != Failed && o != NotRun }

// Result holds the outcome and the costs of an operation.
type Result struct {
	Outcome Outcome
	// Object is the state after the operation, as the API server returned it last. It is nil after a deletion and if
	// nothing was read. Results of RunPlan have its identity only.
	Object *unstructured.Unstructured
	// Deleted is the UID of the object whose deletion the operation requested, unless the API server rejected that.
	Deleted types.UID
	// Attempts is the number of attempts of the operation: 1 without a conflict.
	Attempts int
	// Finalizers delay a deletion.
	Finalizers []string
	// Contested names the field manager and a field, if the write was delayed because another writer undoes it again and again.
	Contested string
	// Warnings are those of the API server, and what the operation ignored.
	Warnings []string
}
