/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package ducks runs informers for kinds that are known only at run time, and reads their objects as a duck type. There
// is one informer per resource. It is started by the first call of Factory.Lister and stopped when the resource is not served or
// not used anymore.
//
// A reconciler never waits for an informer: Lister returns the lister, ErrNotSynced, or the API server's last error at once. The
// informer retries failed requests in the background, once per resource, however many objects depend on it. A callback reports
// when a resource becomes readable or stops being readable, so that the objects that depend on it can be enqueued.
//
// The package replaces the TypedInformerFactory and the CachedInformerFactory of knative.dev/pkg/apis/duck, which are unsafe if
// users choose the kinds:
//
//   - one object that does not fit the duck type fails the list of its whole kind, and the worker that requested the informer waits indefinitely;
//   - an informer cannot be stopped, so that after its CRD was deleted it sends requests until the process ends;
//   - an informer that loses its permission keeps its last state, and nothing reports that.
//
// In this package such an object is delivered as Malformed. A test shows the first two faults on knative.dev/pkg and fails when
// they are fixed there.
//
// Package restmapping maps a kind to its resource. observe.Duck is the source of all objects that a Factory reads.
package ducks
