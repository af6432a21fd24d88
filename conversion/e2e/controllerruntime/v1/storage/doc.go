/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

// Package storage has the storage types of v1.
package storage
