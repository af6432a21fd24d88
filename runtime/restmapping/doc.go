/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package restmapping maps a kind to the resource that serves it, for kinds that are known only at run time because users name them
// in references. The plural name of a resource cannot be derived from its kind, as knative.dev/pkg does in many places: Radius is
// served as radii.
//
// For kinds that a CRD defines, the Mapper reads the name from the cache of an informer of CRDs. For the other kinds, Kubernetes' own
// and those of aggregated API servers, it discovers the whole cluster in the background: at the first use, every 10 minutes, within
// 30 s after a kind was not found, and with back-off from 1 s to 30 s while a requested kind cannot be discovered. So the
// number of requests does not depend on what users write, and Map never waits for one. Answers are never guessed: a kind is not
// served only if the API server's discovery lacks it.
//
// See package observe/ducks for reading the objects.
package restmapping
