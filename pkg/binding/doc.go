/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package binding decides which environment variables of an object belong to AddressBindings, and computes the JSON patch that
// gives the object those that it should have. The controller and the admission webhook both call it, so they never disagree:
//
//	bindings := binding.Of(kind, all)                // the AddressBindings of a namespace, for objects of one kind
//	result := bindings.Apply(object, included, name) // the patch of one object
//
// The patch that sets a variable also marks the object with an annotation. For each container and variable it lists hashes of the values that
// were written, and the bindings that wrote them. A variable is ours if the mark lists the hash of its value; every other variable is the object's
// own, and is neither changed nor removed. The status of a binding is not used for this, so a lost status, a restored backup or kubectl rollout undo
// cannot turn one into the other. An object that does not opt in, or that no binding chooses, loses the variables that are ours, and the mark. One
// that another object controls is never changed, even if it has a mark: its annotations may be copies of its owner's.
package binding
