/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package confidential keeps the values of Secrets, and of other kinds that a user declares, out of what a program prints, records and returns.
//
// A message of the API server can contain the whole object: the decoder of patches, admission policies and webhooks quote it. So it is never passed
// on as text for an object of such a kind. Answer returns an error that is composed of the reason, the fields and their types.
//
// Texts of the program itself are useful, and the values in them are known: Values replaces these.
package confidential
