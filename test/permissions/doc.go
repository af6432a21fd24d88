/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package permissions tests the permissions of the operator's service accounts: everything that they do and nothing else. The grants are
// read from config/, the requests from the API server's audit log.
package permissions
