/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressbinding implements the AddressBinding controller. It sets the URL of an AddressableService as an environment
// variable in the containers of other objects, the subjects, and removes it when the binding no longer applies.
//
// # One reconciliation
//
// [Reconciler.ReconcileKind] runs three steps. Each owns one condition:
//
//	step                   file               question                                  condition
//	reconcileAddress       addressbinding.go  What is the address?                      AddressResolved
//	reconcileSubjects      subjects.go        Do all subjects have it?                  SubjectsBound
//	reconcileInterception  intercept.go       Will the webhook add it to new subjects?  Intercepted
//
// reconcileSubjects reads the objects of the subject's kind from the cache, computes the patch of each (package binding, shared with
// the webhook), sends those that are not empty (patch.go), and summarizes what prevents the rest in the condition (report.go).
//
// # Marks and kinds
//
// A patch sets the variable and marks the object as having it. So the status need not know which objects have which variables: it has
// only the kinds whose objects may be marked. A kind is recorded once it could be listed, and before the first patch, which takes one more
// reconciliation. It is removed when the API server, asked again after a while, has no object of it with a variable that only this binding wanted, and
// with the last kind the finalizer:
//
//	kind listed ─► recorded in status.kinds ─► subjects patched ─► SubjectsBound=True
//	subject of another kind, binding deleted ─► variables and marks removed ─► removed from status.kinds ─► finalizer removed
//
// # Safe to repeat
//
// Every reconciliation considers all objects of the kind in the namespace, and all AddressBindings there. The result depends on
// their state alone, so it may be repeated, skipped or interrupted. It does not begin while the cache is older than our last patch, and
// a patch that was made before waits longer each time (attempts.go): another controller may have reverted it.
//
// # Events
//
// Reconciliations read caches and never block. dependents.go declares the sources, and finds the bindings that an event affects, also those that
// miss the object. The informers of subjects and discovery retry failures by themselves, and enqueue the bindings when the answer changes.
package addressbinding
