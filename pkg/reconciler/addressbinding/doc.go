/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressbinding reconciles AddressBindings: it puts the address of an AddressableService into the environment of
// the containers of other objects, and takes it out again.
//
// One pass has these steps, each of which marks one condition:
//
//	resolve   (address.go)   which address is it?                 AddressResolved
//	bind      (bind.go)      do all subjects have it?             SubjectsBound
//	    kind (subjects.go) ── what an object is to have (pkg/binding) ── patch (patch.go) ── what is in the way (verdict.go, pure)
//	intercept (intercept.go) will new subjects start with it?     Intercepted
//
// What is about to be written is written to status.bound first (bound.go), which is what says later whose variable it is:
// nothing else of a subject may change, so that nothing in it can say so. Therefore the passes over a binding are several, each
// woken by the status write of the one before:
//
//	no address ──► address in status.value and status.bound ──► subjects patched ──► SubjectsBound=True
//	                  │        ▲                                    │
//	   another address│        │                                    │ a subject leaves, the binding goes, the address goes
//	                  ▼        │                                    ▼
//	               both addresses in status.bound  ──►  subjects patched  ──►  what is nowhere any more leaves status.bound
//
// A pass looks at every object of the kind in the namespace, not only at the subjects that there are now, and decides of all by
// all bindings of the namespace. So it does not matter which pass finds an object that has too much or too little, nor whether
// one before it came to its end.
//
// A pass looks at informer caches (and asks discovery for a kind that no CRD defines), and never waits for something to happen:
// what it found missing is watched, and wakes it (wakers.go says by which informer). Only what no watch tells, like a
// permission that is missing, is looked at again after a while.
//
// Giving new objects their variables before they are stored is the job of pkg/webhook, restarting what runs is that of
// whoever owns the Pods.
package addressbinding
