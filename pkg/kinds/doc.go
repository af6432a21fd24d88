/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kinds finds the resource that serves a kind, for kinds that are known only at run time because users name them
// in references.
//
// The plural name of a resource cannot be guessed from its kind, as knative.dev/pkg does it in many places: Radius has
// radii. So it is taken from the CRD that defines the kind, which an informer has, and by whose events one is woken when
// a kind comes or goes; for kinds that no CRD defines, Kubernetes' own and those of aggregated API servers, discovery is asked.
//
// What may be done with objects of a kind, and waking those that refer to it, is the business of the caller. Reading such
// objects is that of pkg/duckinformer.
package kinds
