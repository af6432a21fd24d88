/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tenants holds the suite of attacks by a tenant: a user whose only permission is the ClusterRole edit in one namespace, and that can create
// any object of the operator's kinds with any content.
//
// Whatever the tenant does must not
//
//   - change an object in another namespace, or a workload of the tenant that has not opted in;
//   - make a read or a write of any other user fail;
//   - keep the operator sending requests while the tenant does nothing;
//   - make a process of the operator grow.
//
// The first two are separate attacks. The last two are measured once over many attacks that run side by side: what each of them
// may cost, all of them together must not cost either. The suite runs twice: with the webhook, and without any, so that no property
// depends on admission.
package tenants
