/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package binding decides which variables of an object are those of AddressBindings, and by which JSON patch it gets
// what it is to have. The controller and the webhook of admission both ask it, so that they never disagree.
//
// All is a function of the object and of every AddressBinding of its namespace, so a pass may be repeated or left out, and
// nothing has to be remembered of the passes before:
//
//	bindings := binding.Of(kind, all)                              // those that concern a kind
//	decision := bindings.Decide(object, binding.Included(ns, labels)) // what one object is to have
//	result := decision.Apply(object)                               // how it gets that, and what it cannot have
//
// # Whose variable it is
//
// Nothing but the variable changes in an object, so nothing in the object says who wrote it. A binding's status does: a
// variable is that of a binding if the binding's status.bound lists its name and value for the kind. Every other variable is
// the object's own, and is neither changed nor removed; a binding that wants one of that name is told so.
// Therefore two things hold of status.bound, of which the controller has to take care:
//
//   - It is written before the variable is. A binding whose status does not list its present value does not count.
//   - An entry stays for as long as the variable may stand anywhere. The webhook may see bindings as they were a moment ago,
//     so the entry has to outlast by some seconds the last moment at which it counted.
//
// The limit of this: a variable that somebody else has set to the very value that a binding writes cannot be told from the
// binding's. It goes when the binding does.
//
// Reading and writing objects, and conditions, are not its job, nor is which resource serves a kind.
package binding
