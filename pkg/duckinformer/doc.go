/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package duckinformer makes informers for kinds that are known only at run
// time and reads them through a duck type: one informer per resource, made
// when it is first asked for, stopped when the resource is gone.
//
// It stands in for the TypedInformerFactory and the CachedInformerFactory of
// knative.dev/pkg/apis/duck, which do not fit a process that takes references
// from users:
//
//   - one object whose fields do not fit the duck type fails the list of its
//     whole kind there, and the caller, a worker, then waits for ever;
//   - an informer there cannot be stopped, so that one whose CRD was deleted
//     goes on asking for it until the process ends.
//
// Here such an object is delivered as Malformed, waiting has a deadline, and
// Stop ends an informer. A Factory is a duck.InformerFactory all the same, so that it can take the place of a generated one
// in a context. A test in this package shows both on knative.dev/pkg, so
// that it is noticed when they are mended there.
//
// Which resource serves a kind, and who is woken by a change, is not its job.
package duckinformer
