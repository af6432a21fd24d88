/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressbinding implements the AddressBinding controller. It sets the URL of an AddressableService as an environment
// variable in the containers of other objects, the subjects, and removes it when the binding no longer applies.
//
// [Reconciler.ReconcileKind] runs three steps. Each owns one condition:
//
//	step                   file               question                                  condition
//	reconcileAddress       addressbinding.go  What is the address?                      AddressResolved
//	reconcileSubjects      subjects.go        Do all subjects have it?                  SubjectsBound
//	reconcileInterception  addressbinding.go  Will the webhook add it to new subjects?  Intercepted
//
// A patch (patch.go, computed by package binding) sets the variable and marks the object as having it. So the status has only the kinds whose
// objects may be marked. A kind is recorded once it could be listed, and before the first patch, which takes one more reconciliation. It is removed
// when the API server, asked again after a while, has no object of it with a variable that only this binding wanted:
//
//	kind listed ─► recorded in status.kinds ─► subjects patched ─► SubjectsBound=True
//	subject of another kind, binding deleted ─► variables and marks removed ─► removed from status.kinds ─► finalizer removed
//
// The result depends only on the objects of the kind in the namespace and on the AddressBindings there, so a reconciliation may be repeated, skipped
// or interrupted. Each patch tests what it relies on. One that was made before waits longer each time: another controller may have reverted it.
package addressbinding
