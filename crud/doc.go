/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package crud creates, patches and deletes objects of any kind. Use it where a program knows the state that it wants, and the rest is the
// same each time: read the object, write only a difference, keep the fields of other writers, retry after a conflict, wait for a deletion, and
// report which of some twenty kinds of failure occurred.
//
// An Operation describes one change of one object. It does nothing until a Client runs it:
//
//	client, err := crud.New(config, crud.Options{FieldManager: "example"})
//	...
//	result, err := client.Run(ctx, crud.CreateOrUpdate(&corev1.ConfigMap{...}))
//	...
//	log.Print(result.Outcome) // Created, Updated or Unchanged
//
// Client.RunPlan runs several operations in order, and checks all of them before the first. With Plan.Task, a plan that a crash interrupted can be
// run again: no operation of it is executed twice.
//
// A failure is an *Error; ClassOf returns its Class, by which a caller decides. Only a positive answer counts: an object is absent only if
// the API server serves its kind in its scope and answers that there is no such object.
package crud
