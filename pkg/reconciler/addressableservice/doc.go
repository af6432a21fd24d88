/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice reconciles AddressableServices of our class: it finds the address that spec.ref leads to, writes it to the status, and
// publishes it under an alias if requested. A reconciliation consists of two steps, each of which marks one condition:
//
//	resolve (target.go)   where does spec.ref lead?          TargetResolved
//	    reference ── policy ── chain ── kind ── object ── addresses.go (pure)
//	publish (alias.go)    does the alias point there?        Published
//	    its namespace is recorded, the requested alias is written, then others are deleted
//
// Only a positive answer removes an address; only the spec removes an alias:
//
//	                      look-up failed
//	         ┌───────────────────────────────────┐
//	         ▼                                   │
//	TargetResolved=Unknown ── address found ─► TargetResolved=True ──► alias written ──► Published=True
//	 last addresses stay                         ▲    │                    │                  │
//	         │ known to have no address          │    ▼ no address         ▼ taken            ▼ publish unset, renamed, deleted
//	         └─────────────────────────────► TargetResolved=False    Published=False     alias deleted
//	                                          addresses removed,      alias stays
//	                                          alias stays
//
// A reconciliation reads informer caches and never waits: it tracks each object before it reads it, and a change enqueues the AddressableService.
package addressableservice
