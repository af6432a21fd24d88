/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice reconciles AddressableServices of our class: it
// finds the address that spec.ref leads to, writes it to the status, and
// publishes it under an alias when asked.
//
// One pass is two steps, each of which marks one condition, and then the events
// of what changed:
//
//	resolve (target.go)  what does spec.ref lead to?      TargetResolved
//	    reference ── policy ── cycle ── kind ── object ── addresses.go (pure)
//	publish (publish.go) does the alias point there?       Published
//	    aliases of ours that are not wanted are removed first
//
//	             target there                         spec.publish
//	Unknown ───────────────────► TargetResolved=True ──────────────► alias written ► Published=True
//	   │                           │        ▲                              │
//	   │ anything missing          │ target goes, address goes with it     │ taken, no directory
//	   ▼                           ▼        │ target comes                 ▼
//	TargetResolved=False ◄─────────┴────────┘                       Published=False
//
// A pass looks at informer caches (and asks discovery for a kind that no CRD defines),
// and never waits for something to happen: what it found missing is watched, and wakes it (controller.go says
// by which informer). Only what no watch tells, like a permission that is
// missing, is looked at again after a while.
//
// Whether traffic reaches an address is not its job, nor is making the target's
// endpoints ready or a public host name resolvable.
package addressableservice
